import type { Option } from '../../command.ts';

/** Options of `ray cluster-dump`: which nodes, how to reach them, and what to leave out. */
export const dumpOptions = [
  { name: 'host', short: 'h', value: 'ADDRESS,...', summary: 'only these nodes (default: all)' },
  { name: 'ssh-user', short: 'U', value: 'USER', summary: 'SSH user on the nodes; overrides the cluster file' },
  {
    name: 'ssh-key',
    short: 'K',
    value: 'FILE',
    summary: 'SSH key for the nodes; overrides the cluster file',
    complete: 'file',
  },
  { name: 'docker', short: 'd', value: 'NAME', summary: 'container on the nodes; overrides the cluster file' },
  { name: 'local', short: 'L', summary: 'only this machine' },
  {
    name: 'tempfile',
    short: 'T',
    value: 'FILE',
    summary: 'folder for temporary files',
    complete: 'file',
  },
  { name: 'logs', off: 'no-logs', summary: "include Ray's log files (default: yes)" },
  { name: 'debug-state', off: 'no-debug-state', summary: "include Ray's debug_state files (default: yes)" },
  { name: 'pip', off: 'no-pip', summary: 'include Python package versions (default: yes)' },
  { name: 'processes', off: 'no-processes', summary: "include Ray's processes (default: yes)" },
  {
    name: 'processes-verbose',
    off: 'no-processes-verbose',
    summary: "include full command lines of Ray's processes (default: yes)",
  },
] as const satisfies readonly Option[];
