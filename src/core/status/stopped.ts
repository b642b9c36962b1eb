import type { StoppedMachines } from './status.ts';

/** What is said of stopped machines, a line for each type. */
export const stoppedLines = (stopped: readonly StoppedMachines[] = []): string[] =>
  stopped.map(
    ({ type, count, pricePerHour: price }) =>
      `${count} stopped ${count === 1 ? 'machine' : 'machines'} of ${type}, ${price === undefined ? 'price unknown' : `${price.toFixed(3)} an hour`}: started by the next launch, terminated by \`manta down\``,
  );
