import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { entryFile } from '../entry.ts';
import type { Host, HostResult, RunOptions } from '../host.ts';
import { newMark, type ProgramOutcome, runMarked, runProgram } from '../shell/host-program.ts';
import { privateFolder, tunnelPath } from '../ssh/control.ts';
import { putCommand, putProblem } from '../ssh/put.ts';
import type { Clock } from '../time/clock.ts';
import type { KubeClient } from './client.ts';
import { kubeErrors } from './errors.ts';
import { encodeExec } from './exec-words.ts';
import type { PodName } from './pod.ts';
import { PodChild } from './pod-child.ts';
import { forwardToPod, type PodForward } from './port-forward.ts';

export interface PodEdges {
  readonly client: KubeClient;
  readonly clock: Clock;
}

/** Programs start in the home of the user, as they do over SSH; images may have another folder for theirs. */
const atHome = 'cd 2>/dev/null; exec /bin/sh "$@"';

/** A container of a pod as a host: programs by exec, files too, ports by port-forward. Errors are those of `errors.ts`. */
export class PodHost implements Host {
  readonly name: string;
  readonly pod: PodName;
  readonly #edges: PodEdges;
  readonly #ending = new AbortController();
  readonly #forwards = new Map<number, Promise<{ path: string; forward: PodForward }>>();

  constructor(pod: PodName, edges: PodEdges) {
    this.name = pod.pod;
    this.pod = pod;
    this.#edges = edges;
  }

  async sh(program: string, options: RunOptions): Promise<HostResult> {
    const child = this.#starting(['-s'], options);
    return resultOf(this.name, await runProgram(child.start, program, { ...options, end }), options, child.failure);
  }

  /** A pod that runs takes commands at once; what is in the way does not pass by waiting for it here. */
  async connect({ signal, within }: Parameters<Host['connect']>[0]): Promise<void> {
    await this.sh(':', { signal, within });
  }

  async put(path: string, content: Uint8Array, mode: number, options: RunOptions): Promise<void> {
    const mark = newMark();
    const { byteLength } = content;
    // It reads as many bytes as there are: below Kubernetes 1.30 there is no end of the input.
    const command = `head -c ${byteLength} | ${putCommand(path, byteLength, mode, mark).replace(/^exec /, '')}`;
    const child = this.#starting(['-c', command], options);
    const outcome = await runMarked(child.start, content, mark, { ...options, end });
    const result = resultOf(this.name, outcome, options, child.failure);
    if (result.code !== 0)
      throw kubeErrors.Failed({
        call: `write '${path}' in the pod '${this.name}'`,
        detail: putProblem(result),
        status: 0,
      });
  }

  open(command: string, { stdio, tty = false, forwards = [] }: Parameters<Host['open']>[1]): ChildProcess {
    const words = ['/bin/sh', '-c', atHome, 'sh', '-c', command];
    const order = encodeExec({ ...this.#order(), command: words, tty, forwards });
    return spawn(process.execPath, [entryFile('kube-exec'), order], { stdio });
  }

  rsync(): ReturnType<Host['rsync']> {
    // What rsync appends, the host and its command, follows the order.
    const order = encodeExec({ ...this.#order(), command: ['/bin/sh', '-c', 'cd 2>/dev/null; exec "$@"', 'sh'] });
    const words = [process.execPath, entryFile('kube-exec'), order].map(rsyncQuoted);
    return { shell: words.join(' '), prefix: `${this.name}:` };
  }

  async forward(remote: Parameters<Host['forward']>[0], signal: AbortSignal): Promise<string> {
    if (!('port' in remote))
      throw kubeErrors.Failed({
        call: `reach the socket '${remote.socket}' in the pod '${this.name}'`,
        detail: 'only ports of a pod can be forwarded',
        status: 0,
      });
    signal.throwIfAborted();
    const made = this.#forwards.get(remote.port) ?? this.#newForward(remote.port);
    this.#forwards.set(remote.port, made);
    return (await made).path;
  }

  /** There is no login that would have to be made again. */
  async renew(): Promise<void> {}

  async close(): Promise<void> {
    this.#ending.abort();
    this.#forwards.clear();
  }

  async #newForward(port: number): Promise<{ path: string; forward: PodForward }> {
    const path = tunnelPath(join(privateFolder(), 'pod'));
    const pod = (): Promise<PodName> => Promise.resolve(this.pod);
    const forward = await forwardToPod({ ...this.#edges, pod, port, here: { path }, signal: this.#ending.signal });
    forward!.server.unref();
    return { path, forward: forward! };
  }

  #order(): { context: string; pod: PodName } {
    return { context: this.#edges.client.access.context, pod: this.pod };
  }

  #starting(words: readonly string[], { signal }: RunOptions): { start: () => PodChild; failure: () => unknown } {
    let child: PodChild | undefined;
    const command = ['/bin/sh', '-c', atHome, 'sh', ...words];
    const start = (): PodChild =>
      (child = new PodChild(this.#edges.client, { ...this.pod, command, stdin: true, signal }));
    return { start, failure: () => child?.failure };
  }
}

const end = (child: PodChild): void => child.kill();

function resultOf(host: string, outcome: ProgramOutcome, options: RunOptions, failure: () => unknown): HostResult {
  if (outcome.kind === 'ended') return outcome.result;
  const why = failure();
  if (outcome.kind === 'broken' && why !== undefined) throw why as Error;
  const call = `run a program in the pod '${host}'`;
  const detail =
    outcome.kind === 'late'
      ? `it did not end within ${(options.within ?? 60_000) / 1_000} s`
      : outcome.kind === 'broken'
        ? `${outcome.instead}${outcome.stderr}`.trim() || `it ended with ${outcome.code}`
        : outcome.error.message;
  throw kubeErrors.Failed({ call, detail, status: 0 });
}

/** rsync splits the words at blanks and knows quotes, in which the same quote is written twice. */
const rsyncQuoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "''")}'`;
