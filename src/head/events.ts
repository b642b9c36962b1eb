import { defineEvent } from '../base/events.ts';

/** What mantad says of itself. */
export const headEvents = {
  started: defineEvent<{ version: string; pid: number; url: string; adopted: number }>({
    code: 'MANTA_HEAD_STARTED',
    level: 'info',
    text: (e) =>
      `mantad ${e.version} serves ${e.url}${e.adopted > 0 ? `; ${e.adopted} instances were there already` : ''}`,
  }),
  portTaken: defineEvent<{ port: number; url: string }>({
    code: 'MANTA_HEAD_PORT_TAKEN_BY_ANOTHER',
    level: 'warn',
    text: (e) =>
      `another program on the head has port ${e.port} of localhost (127.0.0.1 or ::1): mantad serves ${e.url}, and whoever is told localhost:${e.port} there gives that program their token`,
  }),
  ending: defineEvent<{ why: string }>({
    code: 'MANTA_HEAD_ENDING',
    level: 'info',
    text: (e) => `mantad ends: ${e.why}`,
  }),
  specChanged: defineEvent<{ file: string }>({
    code: 'MANTA_HEAD_SPEC_CHANGED',
    level: 'info',
    text: (e) => `the cluster file was applied: ${e.file}`,
  }),
  repaired: defineEvent<{ damage: string; detail: string }>({
    code: 'MANTA_HEAD_JOURNAL_REPAIRED',
    level: 'error',
    text: (e) => `the journal was damaged (${e.damage}) and was repaired: ${e.detail}`,
  }),
  headTrouble: defineEvent<{ detail: string }>({
    code: 'MANTA_HEAD_NODE_TROUBLE',
    level: 'warn',
    text: (e) => `the head node could not be started: ${e.detail}`,
  }),
  rayGone: defineEvent<{ address: string }>({
    code: 'MANTA_HEAD_RAY_GONE',
    level: 'warn',
    text: (e) => `Ray on the head (${e.address}) is gone and is started again; its jobs ended with it`,
  }),
  rayNodeGone: defineEvent<{ address: string }>({
    code: 'MANTA_HEAD_RAY_NODE_GONE',
    level: 'warn',
    text: (e) =>
      `Ray's node on the head (${e.address}) has ended, so that no job can start; Ray is started again as soon as no worker works`,
  }),
  nodeSuspect: defineEvent<{ instance: string; type: string; why: string }>({
    code: 'MANTA_HEAD_NODE_SUSPECT',
    level: 'warn',
    text: (e) =>
      `${e.instance} (${e.type}) is suspect: ${e.why}; it is replaced when Ray or its provider confirms that`,
  }),
  nodeBack: defineEvent<{ instance: string; type: string }>({
    code: 'MANTA_HEAD_NODE_BACK',
    level: 'info',
    text: (e) => `${e.instance} (${e.type}) answers again`,
  }),
  filesChanged: defineEvent<{ mounts: number }>({
    code: 'MANTA_HEAD_FILES_CHANGED',
    level: 'info',
    text: (e) =>
      `files of ${e.mounts} ${e.mounts === 1 ? 'mount' : 'mounts'} changed: they go to every worker, and its setup commands run again`,
  }),
  filesTrouble: defineEvent<{ detail: string }>({
    code: 'MANTA_HEAD_FILES_TROUBLE',
    level: 'warn',
    text: (e) => `changed files did not reach every worker: ${e.detail}`,
  }),
  filesKeptBack: defineEvent<{ nodes: readonly string[] }>({
    code: 'MANTA_HEAD_FILES_KEPT_BACK',
    level: 'info',
    text: (e) =>
      `changed files did not go to ${e.nodes.join(', ')}: containers with other options or mounts run there, and who replaces them gets the files`,
  }),
  packageNotCarried: defineEvent<{ node: string; detail: string }>({
    code: 'MANTA_HEAD_PACKAGE_NOT_CARRIED',
    level: 'warn',
    text: (e) => `a large package did not reach ${e.node}, where jobs that need it fail: ${e.detail}`,
  }),
  backupFailed: defineEvent<{ detail: string }>({
    code: 'MANTA_HEAD_BACKUP_FAILED',
    level: 'warn',
    text: (e) => `the journal could not be backed up: ${e.detail}`,
  }),
  infeasible: defineEvent<{ text: string }>({
    code: 'MANTA_HEAD_INFEASIBLE',
    level: 'warn',
    text: (e) => e.text,
  }),
};
