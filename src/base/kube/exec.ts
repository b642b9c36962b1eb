import type { Readable, Writable } from 'node:stream';
import { readOutsideJson } from '../outside-json.ts';
import { Channels } from './channels.ts';
import type { KubeClient } from './client.ts';
import { kubeErrors } from './errors.ts';
import { type PodName, podPath } from './pod.ts';

export interface PodCommand extends PodName {
  readonly command: readonly string[];
  /** @default false: its standard input is empty */
  readonly stdin?: boolean;
  /** With a terminal, which has no standard error of its own. */
  readonly tty?: boolean;
  readonly signal: AbortSignal;
}

/** A command that runs in a container. Nothing of it is read before its streams are: read them, also where they do not matter. */
export interface PodExec {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** False below Kubernetes 1.30: the end of `stdin` does not reach the command, which has to count what it reads. */
  readonly endsInput: boolean;
  resize(size: { readonly columns: number; readonly rows: number }): void;
  /** Its exit code, when all of its output has been handed over. Throws when the connection is lost before. */
  readonly ended: Promise<number>;
  /** Drops the connection; the command may run on. */
  drop(): void;
}

const channel = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4 };

/** `v4` is for servers below 1.30: it cannot end standard input. */
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];

/** Starts a command in a container. It is never started twice. */
export async function execInPod(client: KubeClient, request: PodCommand): Promise<PodExec> {
  const { pod, container, command, stdin = false, tty = false, signal } = request;
  const call = `run a command in the pod '${pod}'`;
  const query = { container, command, stdin, stdout: true, stderr: !tty, tty };
  const socket = await client.upgrade({ path: `${podPath(request)}/exec`, query, call, signal }, protocols);
  const channels = new Channels(socket);
  const [stdout, stderr] = [channels.readable(channel.stdout), channels.readable(channel.stderr)];
  const ended = Promise.withResolvers<number>();
  // Who only reads the output need not wait for the code.
  ended.promise.catch(() => {});
  let code: number | Error | undefined;
  channels.on(channel.status, (bytes) => {
    code = codeOf(bytes.toString(), call);
    // Some servers leave the connection to us.
    socket.close();
  });
  const drop = (): void => {
    code ??= signal.aborted ? (signal.reason as Error) : lost(call, 'it was dropped');
    socket.terminate();
  };
  signal.addEventListener('abort', drop, { once: true });
  socket.once('close', (status) => {
    signal.removeEventListener('abort', drop);
    stdout.push(null);
    stderr.push(null);
    const outcome = code ?? lost(call, `the connection was closed with ${status}`);
    if (typeof outcome === 'number') ended.resolve(outcome);
    else ended.reject(outcome);
  });
  channels.start();
  return {
    stdin: channels.writable(channel.stdin),
    stdout,
    stderr,
    endsInput: socket.protocol.startsWith('v5.'),
    resize: ({ columns, rows }) =>
      channels.send(channel.resize, Buffer.from(JSON.stringify({ Width: columns, Height: rows }))),
    ended: ended.promise,
    drop,
  };
}

const lost = (call: string, detail: string): Error => kubeErrors.Failed({ call, detail, status: 0 });

interface Status {
  readonly status?: string;
  readonly message?: string;
  readonly code?: number;
  readonly details?: { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] };
}

/** The exit code that a `Status` tells of, or why there is none. */
function codeOf(text: string, call: string): number | Error {
  let said: Status;
  try {
    said = readOutsideJson(text) as Status;
  } catch {
    return lost(call, text);
  }
  if (said.status === 'Success') return 0;
  const code = Number(said.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message);
  if (Number.isInteger(code)) return code;
  return kubeErrors.Failed({ call, detail: said.message ?? text, status: said.code ?? 0 });
}
