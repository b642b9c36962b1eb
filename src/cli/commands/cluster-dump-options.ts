import type { Option } from '../command.ts';

/** Options of `ray cluster-dump`: which nodes, how to reach them, and what to leave out. */
export const dumpOptions = [
  { name: 'host', short: 'h', value: 'ADDRESS,...', summary: 'only these nodes; without it all' },
  { name: 'ssh-user', short: 'U', value: 'USER', summary: 'user on the nodes, in place of the one in the file' },
  {
    name: 'ssh-key',
    short: 'K',
    value: 'FILE',
    summary: 'key for the nodes, in place of the one in the file',
    complete: 'file',
  },
  { name: 'docker', short: 'd', value: 'NAME', summary: 'container on the nodes, in place of the one in the file' },
  { name: 'local', short: 'L', summary: 'of this machine alone' },
  {
    name: 'tempfile',
    short: 'T',
    value: 'FILE',
    summary: 'where it is written before it is complete',
    complete: 'file',
  },
  { name: 'logs', off: 'no-logs', summary: "log files of Ray's session (without it yes)" },
  { name: 'debug-state', off: 'no-debug-state', summary: "debug_state files of Ray's session (without it yes)" },
  { name: 'pip', off: 'no-pip', summary: 'versions of Python packages (without it yes)' },
  { name: 'processes', off: 'no-processes', summary: 'processes of Ray (without it yes)' },
  {
    name: 'processes-verbose',
    off: 'no-processes-verbose',
    summary: 'processes of Ray with their whole command lines (without it yes)',
  },
] as const satisfies readonly Option[];
