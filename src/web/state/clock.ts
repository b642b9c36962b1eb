import { signal } from '@preact/signals';
import type { Instant } from '../../base/time/clock.ts';

/** How far the head's clock is ahead of this browser's. */
let ahead = 0;

/** The head's time, renewed every second: relative times on the page are read off it. */
export const now = signal<Instant>(Date.now());

export function headTime(): Instant {
  return Date.now() + ahead;
}

/** Takes the head's clock over; differences that the network explains are not worth a jump. */
export function alignClock(head: Instant): void {
  const difference = head - Date.now();
  if (Math.abs(difference - ahead) > 2000) {
    ahead = difference;
    now.value = headTime();
  }
}

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = headTime();
  }, 1000);
  document.addEventListener('visibilitychange', () => {
    now.value = headTime();
  });
}
