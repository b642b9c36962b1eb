import { join } from 'node:path';
import { readJson } from '../../base/files/json-file.ts';
import type { ProcessIdentity } from '../../base/process.ts';
import type { Duration, Instant } from '../../base/time/clock.ts';
import type { Market, NodeTypeName } from '../../core/instance.ts';
import type { Labels, Resources } from '../../core/resources.ts';

/**
 * What `instances/<id>/` holds. The folder appears whole, with `instance.json` in it, before a process is started.
 *
 * - `instance.json` (provider): this record
 * - `process.json` (agent): which process is the instance; made once, so a second agent on one folder gives way
 * - `ending.json` (provider): the order to end it; never taken back
 * - `end.json` (agent of a node of Ray): whether it chose to end, or Ray ended by itself
 * - `agent.log`: what the agent says
 */
export interface ProcessRecord {
  readonly format: 1;
  readonly id: string;
  readonly launchToken: string;
  readonly type: NodeTypeName;
  readonly kind: 'head' | 'worker';
  readonly zone?: string;
  readonly market: Market;
  readonly launchedAt: Instant;
  readonly tags: Readonly<Record<string, string>>;
  readonly resources: Resources;
  readonly labels: Labels;
  /** Numbers of the graphics devices that are its own. */
  readonly devices: readonly number[];
  /** It ends itself when its lease was not renewed for this long. */
  readonly lease: Duration;
  readonly faults: InstanceFaults;
}

/** What goes wrong with one instance, on request. All times count from the start of its process. */
export interface InstanceFaults {
  /** Registers only after this long. */
  readonly bootDelay?: Duration;
  /** Never registers. */
  readonly hang?: boolean;
  /** Is gone, without a word, after this long. */
  readonly vanishAfter?: Duration;
  /** Is taken away after this long, announced `preemptNotice` before. */
  readonly preemptAfter?: Duration;
  readonly preemptNotice?: Duration;
}

export const recordFile = (folder: string): string => join(folder, 'instance.json');
export const processFile = (folder: string): string => join(folder, 'process.json');
export const endingFile = (folder: string): string => join(folder, 'ending.json');

export const readRecord = (folder: string): ProcessRecord | undefined => readJson<ProcessRecord>(recordFile(folder));
export const readProcess = (folder: string): ProcessIdentity | undefined =>
  readJson<ProcessIdentity>(processFile(folder));
