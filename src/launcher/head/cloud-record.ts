import { randomBytes } from 'node:crypto';
import {
  changeCluster,
  createCluster,
  type RemoteHead,
  readCluster,
  readLaptopRecord,
  withRemoteHead,
} from '../../state/cluster-record.ts';
import type { StateFolder } from '../../state/state-folder.ts';
import type { CloudRequest } from './cloud-client.ts';

/** What this machine knows of the head of a cloud's cluster. */
export interface CloudRemote extends RemoteHead {
  readonly clusterId: string;
  readonly launchToken: string;
}

export const newToken = (): string => `head-${randomBytes(6).toString('hex')}`;
export const newClusterId = (): string => randomBytes(8).toString('hex');

/** What is known of the cluster's head; written down first where nothing is. */
export function remembered({ folder, file, clock }: CloudRequest, clusterId?: string): CloudRemote {
  const { remote } = readLaptopRecord(folder) ?? {};
  if (remote?.clusterId !== undefined && remote.launchToken !== undefined) return remote as CloudRemote;
  const made = { clusterId: clusterId ?? newClusterId(), launchToken: newToken() };
  if (readCluster(folder) === undefined)
    createCluster(folder, {
      role: 'laptop',
      createdAt: clock.now(),
      engine: 'ray',
      config: file.config,
      remote: made,
    });
  else changeCluster(folder, ({ ended: _, ...record }) => withRemoteHead(record, made));
  return made;
}

type Changes = { readonly [Key in keyof RemoteHead]?: RemoteHead[Key] | undefined };

/** Writes down what changed; what is undefined is not known any more. A cluster whose head is asked for is not ending. */
export function remember(folder: StateFolder, changes: Changes): void {
  changeCluster(folder, ({ ended: _ended, endingSince: _ending, ...record }) => {
    const before = record.role === 'laptop' ? record.remote : {};
    return withRemoteHead(record, JSON.parse(JSON.stringify({ ...before, ...changes })) as RemoteHead);
  });
}

/** The head is gone, and what it was asked for with makes no other; that the cluster is being taken down stays so. */
export function forgetHead(folder: StateFolder): void {
  changeCluster(folder, (record) => {
    if (record.role !== 'laptop') return record;
    const { instance: _i, address: _a, inside: _s, zone: _z, askedAt: _t, asked: _o, ...remote } = record.remote;
    return { ...record, remote: { ...remote, launchToken: newToken() } };
  });
}

/** Of a head that is gone, and of one that is asked for. */
export const noHead = { instance: undefined, address: undefined, inside: undefined, zone: undefined } as const;
