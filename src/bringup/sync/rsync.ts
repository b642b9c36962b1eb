import { spawn } from 'node:child_process';
import type { Host } from '../../base/host.ts';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import { bringupErrors } from '../errors.ts';
import type { CommandPlace, NodeFiles } from '../node/node.ts';

export interface RsyncOptions {
  readonly exclude?: readonly string[];
  /** Names of files in the tree that hold patterns to leave out, such as `.gitignore`. */
  readonly filter?: readonly string[];
  /** Where the far path is. @default the host itself */
  readonly place?: CommandPlace;
  /** Further options of rsync, verbatim. */
  readonly extra?: readonly string[];
}

export interface RsyncCommand {
  readonly program: 'rsync';
  readonly args: readonly string[];
  /** To be added to the environment. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The rsync that copies `sources` (on this machine for `up`, on the node for `down`) to `target` on the other side, as
 * Ray does: what is there and not here stays. Paths mean what rsync means by them; `~/` on the node is the home of the
 * user there, also in a container.
 */
export function rsyncCommand(
  host: Host,
  direction: 'up' | 'down',
  sources: readonly string[],
  target: string,
  { exclude = [], filter = [], place = { kind: 'host' }, extra = [] }: RsyncOptions = {},
): RsyncCommand {
  const { shell, rsyncPath, far } = wayInto(host, place);
  const paths = direction === 'up' ? [...sources.map(near), far(target)] : [...sources.map(far), near(target)];
  return {
    program: 'rsync',
    args: [
      '-az',
      ...(shell === undefined ? [] : ['--rsh', shell]),
      ...(rsyncPath === undefined ? [] : ['--rsync-path', rsyncPath]),
      ...patternWords({ exclude, filter }),
      ...extra,
      '--',
      ...paths,
    ],
    // Paths go over the connection as they are: no shell over there reads them. (The option would be unknown to some.)
    env: { RSYNC_PROTECT_ARGS: '1' },
  };
}

export function patternWords({ exclude, filter }: Pick<NodeFiles, 'exclude' | 'filter'>): string[] {
  return [
    ...exclude.flatMap((pattern) => ['--exclude', pattern]),
    ...filter.flatMap((name) => ['--filter', `dir-merge,- ${name}`]),
  ];
}

interface WayInto {
  readonly shell: string | undefined;
  readonly rsyncPath?: string;
  readonly far: (path: string) => string;
}

function wayInto(host: Host, place: CommandPlace): WayInto {
  const { shell, prefix } = host.rsync();
  if (place.kind === 'host') {
    // Over SSH rsync starts at home; on this machine it starts where this process is.
    const home = prefix === '' ? `${process.env['HOME'] ?? ''}/` : '';
    return { shell, far: (path) => `${prefix}${belowHome(path, home)}` };
  }
  const far = (path: string): string => `${place.name}:${belowHome(path, '')}`;
  const inside = `${place.engine} exec -i`;
  const atHome = `cd && exec "$@"`;
  if (shell === undefined) return { shell: `sh -c 'exec ${inside} "$0" sh -c ''${atHome}'' sh "$@"'`, far };
  // The address stands last but for the command: what rsync takes for the host is the name of the container.
  const address = prefix.slice(0, -1).replace(/^\[(.*)\]$/, '$1');
  return { shell: `${shell} ${address} ${inside}`, rsyncPath: `sh -c ${shellQuoted(atHome)} sh rsync`, far };
}

function belowHome(path: string, home: string): string {
  const rest = /^~(?:\/+|$)(.*)$/s.exec(path)?.[1];
  return rest === undefined ? path : `${home}${rest}` || './';
}

/** A name with a colon would be taken for one of another machine. */
const near = (path: string): string => (path.startsWith('/') || path.startsWith('.') ? path : `./${path}`);

/** Runs such a command. `paths` is what a failure names. */
export async function runRsync(host: Host, command: RsyncCommand, paths: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const env = { ...process.env, ...command.env };
  // In a session of its own: Ctrl-C is for this process to handle.
  const child = spawn(command.program, command.args, { stdio: ['ignore', 'ignore', 'pipe'], detached: true, env });
  let stderr = '';
  child.stderr.on('data', (piece: Buffer) => {
    stderr = `${stderr}${piece.toString()}`.slice(-64_000);
  });
  child.once('error', (error: NodeJS.ErrnoException) =>
    reject(error.code === 'ENOENT' ? bringupErrors.SyncNoRsyncHere({}, error) : error),
  );
  child.once('close', (code) => resolve(code ?? 255));
  const end = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', end, { once: true });
  try {
    const code = await promise;
    signal.throwIfAborted();
    // 24: files of the source went while it was read, which is not a failure of the copy.
    if (code !== 0 && code !== 24) throw failureOf(host, paths, code, stderr);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

function failureOf(host: Host, path: string, code: number, stderr: string): Error {
  const said = stderr.trim().split('\n');
  const line = (pattern: RegExp): string | undefined =>
    said.find((each) => pattern.test(each))?.replace(/^rsync: (?:\[\w+\] )?/, '');
  if (code === 127 || line(/rsync: (?:command )?not found|"rsync": executable file not found|rsync: No such file/))
    return bringupErrors.SyncNoRsyncThere({ host: host.name });
  if (line(/no space left|quota exceeded/i)) return bringupErrors.SyncNoSpace({ host: host.name, path });
  const denied = line(/permission denied \(\d|operation not permitted|read-only file system/i);
  if (denied !== undefined) return bringupErrors.SyncDenied({ host: host.name, path, detail: denied });
  const noisy = line(/is your shell clean|protocol version mismatch/);
  if (noisy !== undefined) return bringupErrors.SyncNoisyShell({ host: host.name, detail: noisy });
  // The codes of rsync for a connection that failed, and ssh's own.
  const lost = [10, 12, 30, 255].includes(code) ? host.rsync().failure?.(stderr) : undefined;
  if (lost) return lost;
  const detail = line(/^rsync: /) ?? said.find((each) => each !== '') ?? 'no reason given';
  return bringupErrors.SyncFailed({ host: host.name, path, code, detail });
}
