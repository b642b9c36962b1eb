import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import type { ListenOptions, NetConnectOpts, Server } from 'node:net';
import { connect, createServer } from 'node:net';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import type { Host, HostResult, RunOptions } from './host.ts';
import { sendSignal } from './process.ts';
import type { ProgramOutcome } from './shell/host-program.ts';
import { newMark, runMarked, runProgram } from './shell/host-program.ts';
import { privateFolder, tunnelPath } from './ssh/control.ts';
import { sshErrors } from './ssh/errors.ts';
import { putCommand, putProblem } from './ssh/put.ts';

/** This machine, as a host. Programs start in the home of the user, as they do over SSH. */
export function thisHost(): Host {
  const name = hostname();
  const tunnels = new Set<Server>();
  return {
    name,
    async connect({ signal }) {
      signal.throwIfAborted();
    },

    async sh(program, options) {
      return resultOf(name, await runProgram(() => start(['-s']), program, { ...options, end }), options);
    },

    async put(path, content, mode, options) {
      const mark = newMark();
      const command = putCommand(path, content.byteLength, mode, mark);
      const outcome = await runMarked(() => start(['-c', command]), content, mark, { ...options, end });
      const result = resultOf(name, outcome, options);
      if (result.code !== 0) throw sshErrors.NotWritten({ host: name, path, detail: putProblem(result) });
    },

    open(command, { stdio, forwards = [] }) {
      const child = spawn('/bin/sh', ['-c', command], { stdio, cwd: homedir() });
      for (const { localPort, remotePort } of forwards) {
        if (localPort === remotePort) continue;
        const here = { host: '127.0.0.1', port: localPort };
        const server = tunnel(here, { host: '127.0.0.1', port: remotePort });
        server.once('error', () => child.kill());
        child.once('exit', () => server.close());
      }
      return child;
    },

    rsync: () => ({ prefix: '' }),

    async forward(remote, signal) {
      signal.throwIfAborted();
      const path = tunnelPath(join(privateFolder(), 'here'));
      const far = 'port' in remote ? { host: '127.0.0.1', port: remote.port } : { path: remote.socket };
      const server = tunnel({ path }, far);
      const standing = Promise.withResolvers<void>();
      server.once('listening', standing.resolve);
      server.once('error', (error) =>
        standing.reject(sshErrors.ForwardFailed({ host: name, socket: path, detail: error.message }, error)),
      );
      await standing.promise;
      chmodSync(path, 0o600);
      tunnels.add(server.unref());
      return path;
    },

    async renew() {},

    async close() {
      for (const server of tunnels) server.close();
      tunnels.clear();
    },
  };
}

const start = (words: readonly string[]): ChildProcess =>
  spawn('/bin/sh', words, { stdio: 'pipe', detached: true, cwd: homedir() });

/** The shell leads a group of its own, with all that it has started and that has not left it. */
const end = (child: ChildProcess, signal: NodeJS.Signals): void => {
  if (child.pid !== undefined) sendSignal(-child.pid, signal);
};

function resultOf(host: string, outcome: ProgramOutcome, options: RunOptions): HostResult {
  switch (outcome.kind) {
    case 'ended':
      return outcome.result;
    case 'late':
      throw sshErrors.TooLong({ host, seconds: (options.within ?? 60_000) / 1_000 });
    case 'not-started':
      throw sshErrors.ClientFailed({ host, detail: outcome.error.message }, outcome.error);
    case 'broken':
      throw sshErrors.Dropped({ host, during: 'running', detail: 'its shell was killed' });
  }
}

function tunnel(here: ListenOptions, far: NetConnectOpts): Server {
  const server = createServer((near) => {
    const other = connect(far);
    near.pipe(other).pipe(near);
    near.on('error', () => other.destroy());
    other.on('error', () => near.destroy());
  });
  return server.listen(here);
}
