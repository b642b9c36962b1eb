import { createHash } from 'node:crypto';
import type { ClusterSpec } from '../core/spec/cluster.ts';
import { fingerprint } from '../core/spec/fingerprint.ts';

/** Short fingerprint of what something is made of. */
export const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

/** Of what the head's instance is launched with, by the file alone: a newer image of the same name does not change it. */
export const headLaunchHash = ({ headType, head }: ClusterSpec): string =>
  hashOf([headType, fingerprint(head.launchConfig)]);
