import { setAttribute, setText } from './dom.ts';

const key = 'lycosa-theme';
const themes = ['auto', 'light', 'dark'] as const;

/** As the system says, or as somebody chose in this browser. */
export function theme(button: HTMLButtonElement): void {
  let chosen: string = localStorage.getItem(key) ?? 'auto';
  const show = (): void => {
    setAttribute(document.documentElement, 'data-theme', chosen === 'auto' ? undefined : chosen);
    setText(button, chosen[0]!.toUpperCase() + chosen.slice(1));
    setAttribute(button, 'aria-label', `Theme: ${chosen}`);
    setAttribute(button, 'title', 'Theme: as the system has it, light or dark');
  };
  button.addEventListener('click', () => {
    chosen = themes[(themes.indexOf(chosen as 'auto') + 1) % themes.length]!;
    localStorage.setItem(key, chosen);
    show();
  });
  show();
}
