import { EventEmitter } from 'node:events';
import { PassThrough, type Writable } from 'node:stream';
import type { RunningProgram } from '../shell/host-program.ts';
import type { KubeClient } from './client.ts';
import { execInPod, type PodCommand, type PodExec } from './exec.ts';

/** A command in a pod that looks as a child process does, for those who run programs. Code 255: see `failure`. */
export class PodChild extends EventEmitter implements RunningProgram {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly pid = 0;
  exitCode: number | null = null;
  readonly signalCode = null;
  /** Why there is no exit code. */
  failure: unknown;
  #exec: PodExec | undefined;
  readonly #dropped = new AbortController();

  constructor(client: KubeClient, request: PodCommand) {
    super();
    const signal = AbortSignal.any([request.signal, this.#dropped.signal]);
    void this.#run(client, { ...request, signal });
  }

  kill(): void {
    this.#dropped.abort(new Error('it was dropped'));
    this.#exec?.drop();
  }

  unref(): void {}

  async #run(client: KubeClient, request: PodCommand): Promise<void> {
    try {
      this.#exec = await execInPod(client, request);
      feed(this.stdin, this.#exec);
      this.#exec.stdout.pipe(this.stdout);
      this.#exec.stderr.pipe(this.stderr);
      this.exitCode = await this.#exec.ended;
    } catch (error) {
      this.failure = error;
      this.exitCode = 255;
      this.stdout.end();
      this.stderr.end();
    }
    this.emit('exit', this.exitCode, null);
    const closed = [this.stdout, this.stderr].map(
      (stream) =>
        new Promise<void>((done) => (stream.readableEnded || stream.destroyed ? done() : stream.once('close', done))),
    );
    await Promise.all(closed);
    this.emit('close', this.exitCode, null);
  }
}

/** Below Kubernetes 1.30 the end of the input does not arrive: a shell that reads its program there is told to leave. */
function feed(stdin: PassThrough, exec: PodExec): void {
  const far: Writable = exec.stdin;
  stdin.on('error', () => {});
  stdin.pipe(far, { end: false });
  stdin.once('end', () => (exec.endsInput ? far.end() : far.write('\nexit\n')));
}
