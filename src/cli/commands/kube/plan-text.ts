import { redactTexts } from '../../../base/redact.ts';
import type { Planned } from '../../../kube/apply.ts';
import { printable } from '../../render/renderer.ts';

export const effects: Readonly<Record<Planned['change']['effect'], string>> = {
  created: 'created',
  unchanged: 'unchanged',
  'in place': 'changed in place',
  'new pods': 'all its pods are replaced',
  'new cluster': 'a new cluster takes over',
  'nothing will happen': 'changed, and running pods stay as they are',
  changed: 'changed',
};

/** Longer values are for `kubectl get -o yaml`. */
const longest = 80;

const shown = (value: unknown): string => {
  const text = value === undefined ? '(not set)' : JSON.stringify(value);
  return printable(text.length > longest ? `${text.slice(0, longest)}…` : text);
};

export function planText(planned: Planned): string {
  const { kind, name, effect, differences, notes, room } = planJson(planned);
  const place = room === undefined ? '' : room.fits ? ' (there is room)' : ' (there is no room now)';
  const lines = [
    ...notes.map((note) => `  ${printable(note)}\n`),
    ...(room?.fits === false ? [`  ${printable(room.says)}\n`] : []),
    ...differences.map(({ path, from, to }) => `    ${printable(path)}: ${shown(from)} -> ${shown(to)}\n`),
  ];
  return `${kind} '${name}': ${effects[effect]}${place}\n${lines.join('')}`;
}

export const planJson = ({ manifest, change, room }: Pick<Planned, 'manifest' | 'change' | 'room'>) => ({
  kind: manifest.kind,
  name: manifest.name,
  effect: change.effect,
  notes: change.notes,
  ...(room && { room }),
  differences: redactTexts(change.differences),
});
