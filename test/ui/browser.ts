import { spawnSync } from 'node:child_process';

import { type Browser, chromium, type Page } from 'playwright-core';

const program = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

export const hasBrowser: boolean = program !== undefined;

export async function startBrowser(): Promise<Browser> {
  const found = spawnSync('which', [program!], { encoding: 'utf8' }).stdout.trim();
  const isRoot = process.getuid?.() === 0;
  return chromium.launch({ executablePath: found, args: isRoot ? ['--no-sandbox'] : [] });
}

export interface Tab extends AsyncDisposable {
  readonly page: Page;
  /** What the browser complained of: scripts that failed, and what the policy of the page forbade. */
  readonly complaints: string[];
  /** Messages of `alert` and its like. */
  readonly alerts: string[];
}

/** The page looks for news every two seconds. Here it does not wait as long. */
const hurry = `{
  const { setTimeout } = globalThis;
  globalThis.setTimeout = (work, ms, ...args) => setTimeout(work, ms === 2000 ? 250 : ms, ...args);
}`;

export async function openTab(
  browser: Browser,
  url: string,
  size: { readonly width: number; readonly height: number } = { width: 1280, height: 900 },
): Promise<Tab> {
  const context = await browser.newContext({ viewport: size });
  await context.addInitScript(hurry);
  const page = await context.newPage();
  const complaints: string[] = [];
  const alerts: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // An answer of 4xx or 5xx is what some tests are about; a broken policy is an error too.
    const isAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isAnswer) complaints.push(message.text());
  });
  page.on('dialog', (dialog) => {
    alerts.push(dialog.message());
    void dialog.dismiss();
  });
  await page.goto(url);
  return { page, complaints, alerts, [Symbol.asyncDispose]: () => context.close() };
}

/** Pixels of the page beside the window. */
export async function overflow(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
}
