import type { ChildProcess, StdioOptions } from 'node:child_process';
import { constants } from 'node:os';
import type { Forward, Host } from '../../base/host.ts';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import type { CommandPlace } from '../../bringup/node/node.ts';
import { launcherErrors } from '../errors.ts';
import { askFailureText, commandText } from './command-text.ts';

export interface ExecRequest {
  readonly cluster: string;
  readonly host: Host;
  readonly place: CommandPlace;
  /** Absent: a login shell. */
  readonly command?: string;
  /** Streams of the command; `terminal` says that both ends of them are one. */
  readonly stdio: StdioOptions;
  readonly terminal: boolean;
  readonly forwards?: readonly Forward[];
}

const connectWithin = 30_000;
const askWithin = 10_000;
/** Of one argument, as Linux limits it on the way and on the host; the words that stand before the text come off it. */
const longestText = 131_072 - 100;

/** Runs a command on a node with its streams open and resolves with the command's own exit code. */
export async function exec(request: ExecRequest, signal: AbortSignal): Promise<number> {
  const { cluster, place, terminal, command } = request;
  const mark = newMark();
  const text = commandText({ cluster, place, terminal, mark, ...(command !== undefined && { command }) });
  const code = await openText(request, text, signal);
  if (code !== 255) return code;
  const answer = await whatHappened(request, mark, signal);
  if (answer === 'absent') throw launcherErrors.ExecNotUp({ name: cluster, host: request.host.name });
  if (answer !== 'ended') throw launcherErrors.ExecLost({ host: request.host.name });
  return code;
}

/** A host that cannot be asked any more has lost the connection of the command too. */
async function whatHappened({ host, cluster }: ExecRequest, mark: string, signal: AbortSignal): Promise<unknown> {
  try {
    const { stdout } = await host.sh(askFailureText(cluster, mark), { signal, within: askWithin });
    return stdout.trim().split('\n').at(-1);
  } catch (error) {
    signal.throwIfAborted();
    throw launcherErrors.ExecLost({ host: host.name }, error);
  }
}

export type Opening = Pick<ExecRequest, 'host' | 'stdio' | 'terminal' | 'forwards'>;

/** Runs a text on the host itself; 255 may be the connection's doing. */
export async function openText(request: Opening, text: string, signal: AbortSignal): Promise<number> {
  const { host, stdio, terminal, forwards } = request;
  signal.throwIfAborted();
  const bytes = Buffer.byteLength(shellQuoted(text));
  if (bytes > longestText) throw launcherErrors.ExecCommandTooLong({ bytes, most: longestText });
  // A connection that is kept is used as it is; one that is not, or no longer, is made with an error that says why.
  if (host.isKept?.() !== true) await host.connect({ signal, within: connectWithin });
  return await exitOf(host.open(text, { stdio, tty: terminal, ...(forwards && { forwards }) }), signal);
}

/** To be told from other processes, not to be kept from anybody. */
export const newMark = (): string => `manta-${Math.random().toString(16).slice(2, 14).padEnd(12, '0')}`;

/** An abort takes the connection away, which ends the command. */
function exitOf(child: ChildProcess, signal: AbortSignal): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const end = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', end, { once: true });
  child.once('error', reject);
  child.once('exit', (code, name) => {
    signal.removeEventListener('abort', end);
    if (signal.aborted) reject(signal.reason as Error);
    else resolve(code ?? 128 + (name === null ? 0 : constants.signals[name]));
  });
  return promise;
}
