import { defineError } from '../base/errors.ts';
import type { Ended } from './cluster-record.ts';

/** What can be wrong with a cluster's state folder and the record in it. */
export const stateErrors = {
  ClusterName: defineError<{ name: string }>({
    code: 'MANTA_HEAD_CLUSTER_NAME',
    exit: 2,
    message: (e) => `'${e.name}' is not a valid cluster name`,
    hint: () => 'use at most 64 letters, digits, dots, dashes and underscores, starting with a letter or a digit',
  }),
  FolderNewer: defineError<{ folder: string; format: number }>({
    code: 'MANTA_HEAD_FOLDER_NEWER',
    exit: 4,
    message: (e) => `${e.folder} was written by a newer Manta (format ${e.format})`,
    hint: () => 'upgrade Manta, or choose another cluster name',
  }),
  FolderForeign: defineError<{ folder: string; detail: string }>({
    code: 'MANTA_HEAD_FOLDER_FOREIGN',
    exit: 4,
    message: (e) => `${e.folder} is not a state folder of this user on this machine: ${e.detail}`,
    hint: (e) =>
      `choose another cluster name or MANTA_HOME; if it was copied here from another machine and is no longer used there, delete its cluster.json (${e.folder}/cluster.json)`,
  }),
  RecordDamaged: defineError<{ file: string }>({
    code: 'MANTA_HEAD_RECORD_DAMAGED',
    exit: 4,
    message: (e) => `${e.file} is empty or damaged, perhaps by a power cut, and backups/ has no copy`,
    hint: () =>
      "delete it and run 'manta up' with the cluster file again: jobs, logs and users are kept; if its machines are in a cloud, check there for instances that are still running",
  }),
  NotRunning: defineError<{ name: string }>({
    code: 'MANTA_HEAD_NOT_RUNNING',
    exit: 4,
    message: (e) => `the cluster '${e.name}' is not running on this machine`,
    hint: (e) => (e.name === 'default' ? "start it with 'manta up'" : `start it with 'manta up -n ${e.name}'`),
  }),
  TurnedOff: defineError<{ name: string; when: string; why: string; ended: Ended }>({
    code: 'MANTA_HEAD_TURNED_OFF',
    exit: 4,
    message: (e) => `the cluster '${e.name}' shut itself down at ${e.when}: ${e.why}`,
    hint: (e) =>
      e.ended.headGone === true
        ? "'manta up' creates a new one; 'manta down' deletes its record"
        : "'manta up' starts it again with its jobs; 'manta down' cleans up the rest and deletes its record",
  }),
  HeadLost: defineError<{ name: string; when: string; why: string; workers?: number | undefined; ended: Ended }>({
    code: 'MANTA_HEAD_LOST',
    exit: 4,
    message: (e) =>
      `the cluster '${e.name}' lost its head and its queue at ${e.when}: ${e.why}${
        e.workers === undefined ? '' : `; workers still listed at that time: ${e.workers}`
      }`,
    hint: () =>
      "'manta up' creates a new head; 'manta down' cleans up and deletes its record; workers stop when their leases expire",
  }),
  BadSpec: defineError<{ file: string; problems: readonly string[] }>({
    code: 'MANTA_HEAD_BAD_SPEC',
    exit: 2,
    message: (e) => `cannot use ${e.file}: ${e.problems.join('; ') || 'not a cluster file'}`,
    hint: (e) => `'manta config check ${e.file}' shows each problem and where it is`,
  }),
  OtherProvider: defineError<{ file: string; type: string; runs: string }>({
    code: 'MANTA_HEAD_OTHER_PROVIDER',
    exit: 2,
    message: (e) => `${e.file} uses the provider '${e.type}', but this version of Manta only runs ${e.runs}`,
    hint: () =>
      "use 'type: process' to run the same node types on this machine, or 'type: local' with head_ip and worker_ips to run on your own machines; 'manta simulate' shows how it would scale",
  }),
  SharedFolder: defineError<{ folder: string }>({
    code: 'MANTA_HEAD_SHARED_FOLDER',
    exit: 4,
    message: (e) => `'${e.folder}' is not a private folder of this user`,
    hint: () => 'another user may have created it; delete it, or set TMPDIR to a short path of your own',
  }),
  WhichType: defineError<{ types: readonly string[] }>({
    code: 'MANTA_HEAD_WHICH_TYPE',
    exit: 2,
    message: (e) => `--min-workers is ambiguous: the file has the node types ${e.types.join(', ') || '(none)'}`,
    hint: () => 'set min_workers of the node type in the cluster file',
  }),
};
