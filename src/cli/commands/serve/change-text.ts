import type { ServeChange } from '../../../core/serve/change.ts';
import { printable } from '../../render/renderer.ts';

const effects: Readonly<Record<ServeChange['apps'][number]['effect'], string>> = {
  added: 'added',
  deleted: 'deleted',
  rebuilt: 'loaded again: its code, runtime_env or args change',
  'in place': 'changed in place',
  unchanged: 'unchanged',
};

export const isChange = ({ apps }: ServeChange): boolean => apps.some(({ effect }) => effect !== 'unchanged');

const shown = (value: unknown): string => (value === undefined ? '(not set)' : printable(JSON.stringify(value)));

/** What deploying a config does, for people. */
export function changeText({ apps, ignored }: ServeChange): string {
  const lines = apps.flatMap(({ name, effect, differences }) => [
    `application '${printable(name)}': ${effects[effect]}\n`,
    ...differences.map(({ path, from, to }) => `    ${printable(path.slice(1))}: ${shown(from)} -> ${shown(to)}\n`),
  ]);
  const unheard = ignored.map(({ path, from, to }) => `${printable(path)} (${shown(from)} -> ${shown(to)})`);
  const note =
    unheard.length === 0 ? '' : `A Serve that runs ignores changes of ${unheard.join(', ')}: shut it down first.\n`;
  return `${lines.join('')}${note}`;
}
