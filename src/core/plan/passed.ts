import type { Pass } from './pass.ts';
import type { PassReason } from './plan.ts';
import type { Shape } from './shape.ts';
import { labelMatch, type State, type TypeInfo } from './state.ts';

/** Why an empty node of a type cannot hold a request; undefined when it can. */
export function whyNot(type: TypeInfo, shape: Shape, pass: Pick<Pass, 'fresh' | 'vocabulary'>): PassReason | undefined {
  const fresh = pass.fresh.get(type) as State;
  for (const [at, name] of shape.names.entries()) {
    const asked = shape.amounts[at] as number;
    const room = fresh.room[0][name] as number;
    const has = Number.isNaN(room) ? (pass.vocabulary.unnamed[name] as number) : room;
    if (asked > has) return { kind: 'too-small', resource: pass.vocabulary.resourceNames[name] as string, asked, has };
  }
  if (shape.selectors.length > 0 && labelMatch(shape, fresh.labels) === 0) return { kind: 'labels' };
  return undefined;
}
