import type { Outcome, State } from './api.ts';
import { button, h, setText } from './dom.ts';
import { post } from './net.ts';
import { count, line, plural } from './text.ts';

/** What an order is given to. */
export type Chosen = ReadonlyMap<string, State>;

const shownNames = 8;
const noticeMs = 6000;

/** Says what became of an order, where everybody sees it and screen readers read it. */
export function notify(text: string, kind: 'done' | 'failed' = 'done'): void {
  const notice = h('p', { class: `notice is-${kind}` }, text);
  notice.append(button('Close', () => notice.remove(), { class: 'quiet' }));
  document.querySelector('#notices')!.append(notice);
  if (kind === 'done') setTimeout(() => notice.remove(), noticeMs);
}

/** Asks before spiders are stopped, and stops them. `onDone` follows only where something was ordered. */
export function askStop(chosen: Chosen, onDone: () => void): void {
  const names = only(chosen, ['running', 'pending']);
  const running = names.filter((name) => chosen.get(name) === 'running').length;
  const fast = h('input', { type: 'checkbox', id: 'fast' });
  ask({
    title: names.length === 1 ? 'Stop this spider?' : `Stop ${count(names.length)} spiders?`,
    names,
    left: leftOut(chosen, names, 'neither run nor wait'),
    text: [
      running > 0 && 'What runs finishes its requests under way and ends.',
      running < names.length && 'What waits leaves the queue at once.',
      'Stopped spiders count as failed, and can be requeued.',
    ],
    extra: running > 0 && h('label', { class: 'check' }, fast, 'Break off requests under way'),
    action: names.length === 1 ? 'Stop spider' : `Stop ${count(names.length)} spiders`,
    isDanger: true,
    async send() {
      const { done, missed } = await post<Outcome>('api/stop', { names, fast: fast.checked });
      notify(
        `${plural(done, 'spider was', 'spiders were')} asked to stop.${missed > 0 ? ` ${plural(missed, 'had', 'had')} ended before.` : ''}`,
      );
      onDone();
    },
  });
}

/** Asks before spiders are ordered again, and orders them. */
export function askRequeue(chosen: Chosen, onDone: () => void): void {
  const names = only(chosen, ['failed', 'finished']);
  ask({
    title:
      names.length === 1 ? 'Run this spider again?' : `Run ${count(names.length)} spiders again?`,
    names,
    left: leftOut(chosen, names, 'run or wait already'),
    text: ['They are put back into the queue with the arguments they had.'],
    action: names.length === 1 ? 'Requeue spider' : `Requeue ${count(names.length)} spiders`,
    async send() {
      const { done, missed } = await post<Outcome>('api/requeue', { names });
      notify(
        `${plural(done, 'spider is', 'spiders are')} pending again.${missed > 0 ? ` ${plural(missed, 'was', 'were')} not to be requeued.` : ''}`,
      );
      onDone();
    },
  });
}

/** Asks before no further spider begins anywhere. */
export function askDrain(onDone: () => void): void {
  ask({
    title: 'Drain the fleet?',
    names: [],
    text: ['No further spider begins on any machine. What runs now ends in peace. Resume goes on.'],
    action: 'Drain',
    isDanger: true,
    async send() {
      await post('api/drain');
      notify('The fleet is draining.');
      onDone();
    },
  });
}

interface Question {
  readonly title: string;
  readonly names: readonly string[];
  readonly left?: string | undefined;
  readonly text: readonly (string | false)[];
  readonly extra?: HTMLElement | false;
  /** The word on the button. */
  readonly action: string;
  readonly isDanger?: boolean;
  send(): Promise<void>;
}

function ask(question: Question): void {
  const { names, left } = question;
  const error = h('p', { class: 'error', role: 'alert', hidden: true });
  const act = h('button', { class: question.isDanger ? 'danger' : 'primary' }, question.action);
  act.disabled = names.length === 0 && left !== undefined;
  const cancel = button('Cancel', () => dialog.close());
  const form = h(
    'form',
    { method: 'dialog' },
    h('h2', { id: 'ask-title' }, question.title),
    names.length > 0 && nameList(names),
    left !== undefined && h('p', { class: 'dim' }, left),
    ...question.text.map((text) => text !== false && h('p', {}, text)),
    question.extra,
    error,
    h('div', { class: 'dialog-actions' }, cancel, act),
  );
  const dialog = h('dialog', { 'aria-labelledby': 'ask-title' }, form);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    act.disabled = true;
    question
      .send()
      .then(() => dialog.close())
      .catch((thrown: Error) => {
        setText(error, thrown.message);
        error.hidden = false;
        act.disabled = false;
      });
  });
  dialog.addEventListener('close', () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  // What destroys is not the first that Enter meets.
  (question.isDanger ? cancel : act).focus();
}

function nameList(names: readonly string[]): HTMLElement {
  const more = names.length - shownNames;
  return h(
    'ul',
    { class: 'names' },
    ...names.slice(0, shownNames).map((name) => h('li', {}, h('bdi', {}, line(name)))),
    more > 0 && h('li', { class: 'dim' }, `and ${count(more)} more`),
  );
}

function only(chosen: Chosen, states: readonly State[]): string[] {
  return [...chosen].filter(([, state]) => states.includes(state)).map(([name]) => name);
}

function leftOut(chosen: Chosen, names: readonly string[], why: string): string | undefined {
  const left = chosen.size - names.length;
  return left > 0 ? `${plural(left, 'other')} of your selection ${why}.` : undefined;
}
