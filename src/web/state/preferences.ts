import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';

/** Storage may be denied to the page; then a choice lasts as long as the tab. */
function stored(name: string): string | null {
  try {
    return localStorage.getItem(`manta.${name}`);
  } catch {
    return null;
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(`manta.${name}`, value);
  } catch {
    // The choice still holds for this tab.
  }
}

const saved = stored('theme');
export const theme = signal<Theme>(saved === 'light' || saved === 'dark' ? saved : 'system');
/** Single keys that do something; some readers of a page need them off. */
export const shortcutsOn = signal(stored('shortcuts') !== 'off');

const systemDark = matchMedia('(prefers-color-scheme: dark)');
const systemIsDark = signal(systemDark.matches);
systemDark.addEventListener('change', (change) => {
  systemIsDark.value = change.matches;
});

/** What is drawn now; charts are painted again when it changes. */
export const dark = signal(false);

export function applyPreferences(): void {
  effect(() => {
    dark.value = theme.value === 'dark' || (theme.value === 'system' && systemIsDark.value);
    document.documentElement.dataset['theme'] = dark.value ? 'dark' : 'light';
    store('theme', theme.value);
  });
  effect(() => store('shortcuts', shortcutsOn.value ? 'on' : 'off'));
}
