import type { Position } from './spec/problem.ts';

/** Something wrong or doubtful in a manifest or in a Serve config. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly file: string;
  readonly at: Position;
  readonly says: string;
  readonly next: string;
}
