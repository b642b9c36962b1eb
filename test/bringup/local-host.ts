import type { ChildProcess, StdioOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Host } from '../../src/base/host.ts';
import { runProgram } from '../../src/base/shell/host-program.ts';

/** This machine, with a home of its own; `shell` is what its `sh` is. */
export function localHost(home: string, more: NodeJS.ProcessEnv = {}, shell = 'sh'): Host {
  const env = { PATH: process.env['PATH'], HOME: home, SHELL: '/bin/bash', ...more };
  const [name = '', ...words] = shell.split(' ');
  const start = (given: readonly string[], stdio: StdioOptions = 'pipe'): ChildProcess =>
    spawn(name, [...words, ...given], { env, cwd: home, stdio });
  return {
    ...shellHost('here', () => start(['-s'])),
    open: (command, { stdio }) => start(['-c', command], stdio),
  };
}

/** A host whose commands are given to a shell that `start` starts. */
export function shellHost(name: string, start: () => ChildProcess): Host {
  const refuse = (): never => {
    throw new Error('not in this test');
  };
  const sh: Host['sh'] = async (program, options) => {
    const outcome = await runProgram(start, program, { ...options, end: (child, signal) => void child.kill(signal) });
    if (outcome.kind !== 'ended') throw new Error(`the shell was ${outcome.kind}`);
    return outcome.result;
  };
  return {
    name,
    connect: async () => {},
    sh,
    put: refuse,
    open: refuse,
    rsync: refuse,
    forward: refuse,
    renew: async () => {},
    close: async () => {},
  };
}
