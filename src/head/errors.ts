import { defineError } from '../base/errors.ts';
import type { Ended } from './state-folder.ts';

/** What can be wrong with a cluster's state folder and its daemon. */
export const headErrors = {
  ClusterName: defineError<{ name: string }>({
    code: 'MANTA_HEAD_CLUSTER_NAME',
    exit: 2,
    message: (e) => `'${e.name}' cannot be the name of a cluster`,
    hint: () => 'use letters, digits, dot, dash and underscore, at most 64, starting with a letter or a digit',
  }),
  FolderNewer: defineError<{ folder: string; format: number }>({
    code: 'MANTA_HEAD_FOLDER_NEWER',
    exit: 4,
    message: (e) => `${e.folder} was written by a newer Manta (format ${e.format})`,
    hint: () => 'use that Manta, or another cluster name',
  }),
  FolderForeign: defineError<{ folder: string; detail: string }>({
    code: 'MANTA_HEAD_FOLDER_FOREIGN',
    exit: 4,
    message: (e) => `${e.folder} is not a state folder of this machine and user: ${e.detail}`,
    hint: (e) =>
      `choose another cluster name or MANTA_HOME; if it was copied here from another machine and is no longer used there, delete its cluster.json (${e.folder}/cluster.json)`,
  }),
  RecordDamaged: defineError<{ file: string }>({
    code: 'MANTA_HEAD_RECORD_DAMAGED',
    exit: 4,
    message: (e) => `${e.file} is empty or damaged, as a power cut can leave it, and there is no copy in backups/`,
    hint: () =>
      "delete it and run 'manta up' with the cluster's file again: jobs, logs and users are kept; if its machines are in a cloud, look there for those that still run",
  }),
  NotRunning: defineError<{ name: string }>({
    code: 'MANTA_HEAD_NOT_RUNNING',
    exit: 4,
    message: (e) => `no cluster '${e.name}' runs on this machine`,
    hint: (e) => (e.name === 'default' ? "start it with 'manta up'" : `start it with 'manta up -n ${e.name}'`),
  }),
  /** `isThere`: its folder is, so that somebody may come to serve it. */
  NotServed: defineError<{ name: string; host: string; isThere: boolean }>({
    code: 'MANTA_HEAD_NOT_SERVED',
    exit: 4,
    message: (e) => `no mantad of the cluster '${e.name}' runs on ${e.host}`,
    hint: (e) =>
      `'manta up' with its cluster file brings it back; ${e.host}:~/.manta/head/clusters/${e.name}/mantad.log says why it ended`,
  }),
  TurnedOff: defineError<{ name: string; when: string; why: string; ended: Ended }>({
    code: 'MANTA_HEAD_TURNED_OFF',
    exit: 4,
    message: (e) => `the cluster '${e.name}' turned itself off at ${e.when}: ${e.why}`,
    hint: (e) =>
      e.ended.headGone === true
        ? "'manta up' makes a new one; 'manta down' forgets it"
        : "'manta up' starts it again, with its jobs; 'manta down' forgets it, and clears what is left of it",
  }),
  HeadLost: defineError<{ name: string; when: string; why: string; workers?: number | undefined; ended: Ended }>({
    code: 'MANTA_HEAD_LOST',
    exit: 4,
    message: (e) =>
      `the cluster '${e.name}' has lost its head, and with it its queue: at ${e.when} ${e.why}${
        e.workers === undefined ? '' : `; workers that were still listed then: ${e.workers}`
      }`,
    hint: () =>
      "'manta up' makes a new head; 'manta down' ends what is left of it and forgets it; workers end by their leases",
  }),
  NodeEnded: defineError<{ instance: string; detail: string }>({
    code: 'MANTA_HEAD_NODE_ENDED',
    exit: 5,
    message: (e) => `the node on ${e.instance} ended before Ray knew it: ${e.detail}`,
    hint: (e) => `all that it said is in instances/.ended/${e.instance}/agent.log of the state folder`,
  }),
  NoExtension: defineError<{ until: string }>({
    code: 'MANTA_HEAD_NO_EXTENSION',
    exit: 2,
    message: (e) => `the cluster cannot be kept until ${e.until}, which is not a time in the future`,
    hint: () => 'give a length of time such as 2h, or --until with a time that is still to come',
  }),
  AlreadyServed: defineError<{ folder: string; pid: number }>({
    code: 'MANTA_HEAD_ALREADY_SERVED',
    exit: 4,
    message: (e) => `another mantad (pid ${e.pid}) serves ${e.folder}`,
    hint: () => "end it with 'manta down', or wait until it has ended",
  }),
  StartFailed: defineError<{ name: string; log: string; detail: string }>({
    code: 'MANTA_HEAD_START_FAILED',
    exit: 4,
    message: (e) => `the daemon of cluster '${e.name}' did not start: ${e.detail}`,
    hint: (e) => `its log is ${e.log}`,
  }),
  PortTaken: defineError<{ port: number }>({
    code: 'MANTA_HEAD_PORT_TAKEN',
    exit: 4,
    message: (e) => `port ${e.port} is in use`,
    hint: () => 'choose another with --port, or leave it out to take a free one',
  }),
  BadSpec: defineError<{ file: string; problems: readonly string[] }>({
    code: 'MANTA_HEAD_BAD_SPEC',
    exit: 2,
    message: (e) => `${e.file} cannot be used: ${e.problems.join('; ') || 'it is no cluster file'}`,
    hint: (e) => `'manta config check ${e.file}' shows every problem in its place`,
  }),
  OtherProvider: defineError<{ file: string; type: string }>({
    code: 'MANTA_HEAD_OTHER_PROVIDER',
    exit: 2,
    message: (e) =>
      `${e.file} asks for the provider '${e.type}'; this version of Manta runs clusters of the providers 'process' and 'local'`,
    hint: () =>
      "write 'type: process' to run the same node types on this machine, 'type: local' with head_ip and worker_ips to run on machines that you have, or 'manta simulate' to see how it would scale",
  }),
  NotEnded: defineError<{ host: string; left: readonly string[] }>({
    code: 'MANTA_HEAD_NOT_ENDED',
    exit: 4,
    message: (e) => `Ray on ${e.host} could not be ended: ${e.left.join(', ')} is still there`,
    hint: (e) => `processes of another user need that user: 'manta ssh' (${e.host}) and end them there`,
  }),
  HeadSilent: defineError<{ address: string; port: number; seconds: number }>({
    code: 'MANTA_HEAD_SILENT',
    exit: 4,
    message: (e) => `Ray's head at ${e.address}:${e.port} did not open its port within ${e.seconds} s`,
    hint: () => "'manta logs head' shows what the start of the head said",
  }),
  SharedFolder: defineError<{ folder: string }>({
    code: 'MANTA_HEAD_SHARED_FOLDER',
    exit: 4,
    message: (e) => `'${e.folder}' is not a private folder of this user`,
    hint: () => 'somebody else may have made it: delete it, or set TMPDIR to a short path of your own',
  }),
  NoRayHere: defineError<{ name: string }>({
    code: 'MANTA_HEAD_NO_RAY_HERE',
    exit: 4,
    message: (e) => `the record of the cluster '${e.name}' names no Python that has Ray`,
    hint: (e) => `run 'manta up -n ${e.name} --engine ray' again`,
  }),
  NoSuchThing: defineError<{ kind: string; id: string }>({
    code: 'MANTA_HEAD_NO_SUCH_THING',
    exit: 1,
    message: (e) => `there is no ${e.kind} '${e.id.slice(0, 200)}'`,
    hint: () => "'manta status -v' lists nodes, 'manta job list' lists jobs",
  }),
  BadBundles: defineError<{ problem: string }>({
    code: 'MANTA_HEAD_BAD_BUNDLES',
    exit: 2,
    message: (e) => `the request for resources cannot be read: ${e.problem}`,
    hint: () => 'give {"bundles": [{"resources": {"CPU": 2}, "count": 3}]}; an empty list withdraws the request',
  }),
  BadDrain: defineError<{ problem: string }>({
    code: 'MANTA_HEAD_BAD_DRAIN',
    exit: 2,
    message: (e) => `the request to drain a node cannot be read: ${e.problem}`,
    hint: () => 'give {"reason": "idle"}, or {"reason": "preemption", "within": MILLISECONDS}',
  }),
  WhichType: defineError<{ types: readonly string[] }>({
    code: 'MANTA_HEAD_WHICH_TYPE',
    exit: 2,
    message: (e) => `--min-workers does not say of which node type: there are ${e.types.join(', ') || 'none'}`,
    hint: () => 'write min_workers at the node type in the cluster file',
  }),
};
