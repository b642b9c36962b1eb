import { signal } from '@preact/signals';

const query = matchMedia('(max-width: 720px)');

/** True at the width of a phone: lists show two lines a row instead of columns. */
export const narrow = signal(query.matches);
query.addEventListener('change', (change) => {
  narrow.value = change.matches;
});
