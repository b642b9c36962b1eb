import { signal } from '@preact/signals';
import { RequestFailure } from '../api/client.ts';
import { Icon } from './icon.tsx';
import { sentence } from './notice.tsx';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly bad: boolean;
}

const shownFor = 6000;
const toasts = signal<readonly Toast[]>([]);
let made = 0;

/** Says what an action did. Failures stay until they are closed. */
export function say(text: string, bad = false): void {
  made += 1;
  const toast = { id: made, text, bad };
  toasts.value = [...toasts.value.slice(-3), toast];
  if (!bad) setTimeout(() => dismiss(toast.id), shownFor);
}

export function sayFailure(doing: string, problem: unknown): void {
  if (!(problem instanceof RequestFailure)) throw problem;
  say(`${doing}: ${sentence(problem.message)}${problem.hint === undefined ? '' : ` ${sentence(problem.hint)}`}`, true);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div key={toast.id} class={toast.bad ? 'toast toast-bad' : 'toast'}>
          <span>{toast.text}</span>
          <button type="button" class="icon-button" aria-label="Close message" onClick={() => dismiss(toast.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
