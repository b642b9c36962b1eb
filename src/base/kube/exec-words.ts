import type { Forward } from '../host.ts';
import type { PodName } from './pod.ts';

/** What the program `kube-exec` is told to do. */
export interface ExecOrder {
  readonly context: string;
  readonly pod: PodName;
  readonly command: readonly string[];
  readonly tty?: boolean;
  readonly forwards?: readonly Forward[];
}

/** One word without anything that a shell, or rsync, reads in another way. */
export const encodeExec = (order: ExecOrder): string => Buffer.from(JSON.stringify(order)).toString('base64url');

export const decodeExec = (word: string): ExecOrder =>
  JSON.parse(Buffer.from(word, 'base64url').toString()) as ExecOrder;
