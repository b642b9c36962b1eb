import type { JournalAnswer } from '../../api/types.ts';
import type { ScalingFact } from '../../autoscaler/journal.ts';
import { redact } from '../../base/redact.ts';
import type { Head } from '../head.ts';

const scalingKinds: readonly ScalingFact['kind'][] = [
  'launch',
  'instance',
  'adopted',
  'end',
  'refused',
  'granted',
  'planned',
];

/** The newest facts of scaling and of jobs, `limit` of each, without what looks like a credential. */
export function journalAnswer(head: Pick<Head, 'journal' | 'store'>, limit: number): JournalAnswer {
  return {
    scaling: clean(head.journal.recent(scalingKinds, limit)),
    jobs: clean(head.store.facts({ limit })),
  };
}

function clean<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === 'string' ? redact(each) : each,
  ) as Value;
}
