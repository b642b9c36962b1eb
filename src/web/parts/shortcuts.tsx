import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ownValue } from '../../base/own-value.ts';
import { shortcutsOn } from '../state/preferences.ts';
import { goTo, linkTo } from '../state/route.ts';
import { openSubmit } from '../state/submit.ts';
import { Dialog } from './dialog.tsx';

export const helpOpen = signal(false);

const places: Readonly<Record<string, readonly string[]>> = {
  o: [],
  j: ['jobs'],
  n: ['nodes'],
  d: ['demand'],
  e: ['events'],
};

const rows: readonly (readonly [string, string])[] = [
  ['g then o', 'Overview'],
  ['g then j', 'Jobs'],
  ['g then n', 'Nodes'],
  ['g then d', 'Demand'],
  ['g then e', 'Events'],
  ['/', 'Search this view'],
  ['c', 'New job'],
  ['?', 'Show shortcuts'],
  ['↑ ↓ Page Home End', 'Move in a list'],
  ['Enter', 'Open the row'],
];

/** Listens for the single keys of the list above, unless the reader is typing or has a dialog open. */
export function useShortcuts(): void {
  useEffect(() => {
    let afterG = false;
    const onKeyDown = (press: KeyboardEvent): void => {
      const target = press.target as HTMLElement | null;
      const typing = target?.closest('input, textarea, select, [contenteditable], dialog') !== null;
      if (!shortcutsOn.value || typing || press.ctrlKey || press.metaKey || press.altKey) return;
      const place = afterG ? ownValue(places, press.key) : undefined;
      afterG = press.key === 'g';
      if (place !== undefined) goTo(linkTo(place));
      else if (press.key === '?') helpOpen.value = true;
      else if (press.key === 'c') openSubmit();
      else if (press.key === '/') document.querySelector<HTMLInputElement>('main input[type=search]')?.focus();
      else return;
      press.preventDefault();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

export function ShortcutHelp() {
  if (!helpOpen.value) return null;
  const close = (): void => {
    helpOpen.value = false;
  };
  return (
    <Dialog title="Keyboard" onClose={close}>
      <div class="dialog-body">
        <table class="keys">
          <tbody>
            {rows.map(([keys, what]) => (
              <tr key={keys}>
                <th scope="row">
                  {keys.split(' ').map((part) => (part === 'then' ? ' then ' : <kbd key={part}>{part}</kbd>))}
                </th>
                <td>{what}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <label class="check">
          <input
            type="checkbox"
            checked={shortcutsOn.value}
            onChange={(change) => {
              shortcutsOn.value = change.currentTarget.checked;
            }}
          />
          Single keys are on
        </label>
      </div>
    </Dialog>
  );
}
