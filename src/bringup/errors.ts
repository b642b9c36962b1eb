import { defineError } from '../base/errors.ts';

/** What can keep a host from becoming a node. */
export const bringupErrors = {
  CommandFailed: defineError<{ node: string; phase: string; command: string; code: number; output: string }>({
    code: 'MANTA_BRINGUP_COMMAND_FAILED',
    exit: 4,
    message: (e) =>
      `${e.node}: ${e.phase} failed with exit code ${e.code}: ${e.command}${e.output === '' ? '' : `\n${indented(e.output)}`}`,
    hint: (e) => `try it there with 'manta ssh' (${e.node}), mend it, and run 'manta up' again: what is done is not done again`,
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
