import { defineError } from '../base/errors.ts';

/** What can keep a host from becoming a node. */
export const bringupErrors = {
  CommandFailed: defineError<{
    node: string;
    cluster: string;
    phase: string;
    command: string;
    code: number;
    output: string;
  }>({
    code: 'MANTA_BRINGUP_COMMAND_FAILED',
    exit: 4,
    message: (e) =>
      `${e.node}: ${e.phase} ${e.code < 0 ? 'was lost' : `failed with exit code ${e.code}`}: ${e.command}${e.output === '' ? '' : `\n${indented(e.output)}`}`,
    hint: (e) =>
      `'manta ssh -n ${e.cluster} ${e.node}' leads there; mend it and run 'manta up' again: what is done is not done again`,
  }),
  DiskFull: defineError<{ node: string }>({
    code: 'MANTA_BRINGUP_DISK_FULL',
    exit: 4,
    message: (e) => `${e.node}: the disk is full: nothing can be written in the home of the user there`,
    hint: () =>
      "free some space there ('df -h ~' and 'du -xsh ~/* /tmp/* | sort -h' show where it went), then run this again",
  }),
  NoFolder: defineError<{ node: string; folder: string; detail: string }>({
    code: 'MANTA_BRINGUP_NO_FOLDER',
    exit: 4,
    message: (e) => `${e.node}: the folder ~/${e.folder} cannot be written: ${e.detail}`,
    hint: () => 'the user that logs in there needs a home that it may write to',
  }),
  NotCarried: defineError<{ node: string; path: string; detail: string }>({
    code: 'MANTA_BRINGUP_NOT_CARRIED',
    exit: 4,
    message: (e) => `${e.node}: '${e.path}' could not be written there: ${e.detail}`,
    hint: () => 'a job finds its large package on every node; without it there, it cannot run on that node',
  }),
  NeverRegistered: defineError<{ node: string; instance: string; seconds: number; death: string | undefined }>({
    code: 'MANTA_BRINGUP_NEVER_REGISTERED',
    exit: 4,
    message: (e) =>
      `${e.node}: Ray was started and its head has shown no node of ${e.instance} for ${e.seconds} s${e.death === undefined ? '' : `; the last one died: ${e.death}`}`,
    hint: () => 'raylet.err and gcs_server.out in the logs of Ray on both sides say why',
  }),
  HeadSilent: defineError<{ node: string; address: string; port: number; seconds: number }>({
    code: 'MANTA_BRINGUP_HEAD_SILENT',
    exit: 4,
    message: (e) => `${e.node}: Ray's head at ${e.address}:${e.port} did not open its port within ${e.seconds} s`,
    hint: () => "'manta logs head' shows what the head's start said; a firewall between the hosts looks the same",
  }),
};

const indented = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
