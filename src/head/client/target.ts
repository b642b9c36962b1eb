import type { EventSink } from '../../base/events.ts';
import { withoutTrailing } from '../../base/trailing.ts';
import { wallClock } from '../../base/wall-clock.ts';
import { headErrors } from '../errors.ts';
import type { GivenFile } from '../load-spec.ts';
import type { ClusterFile, StateFolder } from '../state-folder.ts';
import { clusterNames, readCluster, servingOf, stateFolder, stateHome, supervisorOf } from '../state-folder.ts';
import { turnedOff } from '../turn-off/ended.ts';
import { clientErrors } from './errors.ts';
import { clientEvents } from './events.ts';
import type { RemoteLine } from './remote.ts';
import { tellSkew } from './skew.ts';
import { localToken, tokenFromEnvironment } from './token.ts';

/** A cluster that is known by its name, or whose file was given. */
export interface MeantCluster {
  readonly name: string;
  /** One of other machines need not be known here. */
  readonly file?: GivenFile;
}

/** The HTTP address of a head. */
export interface GivenAddress {
  readonly address: string;
  /** What said so, for messages. */
  readonly from: string;
}

/** How a head is spoken to. */
export interface Manner {
  /** `--headers`: JSON. */
  readonly headers?: string;
  /** `--verify`: `true`, `false`, or a path. @default true */
  readonly verify?: string;
}

/** Where to send requests, as of now. */
export interface Place {
  readonly url: string;
  /** A unix socket that leads there, in place of the address in `url`. */
  readonly socket?: string;
  readonly token?: string;
}

/** A cluster that a command speaks to. */
export interface Target {
  /** For messages. */
  readonly shown: string;
  /** A cluster of this machine. */
  readonly folder?: StateFolder;
  readonly headers: Readonly<Record<string, string>>;
  readonly verify: string;
  /** Asked anew at each connect: a head that was started again may serve elsewhere. Waits for one that is on its way. */
  place(signal: AbortSignal): Promise<Place>;
  /** The last place did not answer, or broke. */
  lost?(): void;
  close?(): Promise<void>;
}

type Env = Readonly<Record<string, string | undefined>>;

export function targetFor(
  meant: MeantCluster | GivenAddress,
  env: Env,
  events: EventSink,
  manner: Manner = {},
): Target {
  const shared = { headers: headersOf(manner, env), verify: manner.verify ?? 'true' };
  const target =
    'address' in meant
      ? remoteTarget(meant, env, events)
      : localTarget(stateFolder(stateHome(env), meant.name), env, events, meant.file);
  return { ...target, ...shared };
}

function remoteTarget(
  { address, from }: GivenAddress,
  env: Env,
  events: EventSink,
): Omit<Target, 'headers' | 'verify'> {
  const bad = (problem: string): Error => clientErrors.BadAddress({ address, from, problem });
  if (address.startsWith('ray://')) throw bad('is of the Ray client, which is no HTTP');
  let url: URL;
  try {
    url = new URL(address.includes('://') ? address : `http://${address}`);
  } catch {
    throw bad('is none');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw bad('is neither http nor https');
  if (url.username !== '' || url.password !== '') throw bad('holds a user or a password; use a token');
  const base = withoutTrailing(`${url.origin}${url.pathname}`, '/');
  let fromHead: string | undefined;
  return {
    shown: base,
    place: async (signal) => {
      // A question to the head's machine: asked once and not for each request.
      const throughTunnel = async (): Promise<string | undefined> =>
        (fromHead ??= await tokenThroughTunnel(url, env, events, signal));
      const token =
        tokenFromEnvironment(env) ??
        tokenOfLocal(url, env) ??
        (await throughTunnel()) ??
        tokenFromEnvironment(env, 'fallback');
      return { url: base, ...(token !== undefined && { token }) };
    },
  };
}

const isLoopback = (url: URL): boolean => ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);

/** A port of this machine that Manta holds a tunnel on needs none either. */
async function tokenThroughTunnel(
  url: URL,
  env: Env,
  events: EventSink,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!isLoopback(url) || url.protocol !== 'http:') return undefined;
  const { tunnelOn } = await import('./tunnel.ts');
  const folder = tunnelOn(Number(url.port || 80), stateHome(env));
  if (folder === undefined) return undefined;
  const record = readCluster(folder);
  if (record?.remote === undefined) return record && localToken(folder);
  const { RemoteLine } = await import('./remote.ts');
  return await new RemoteLine(folder, record, env, events).token(signal);
}

/** An address that a cluster of this machine serves needs no token in the environment. */
function tokenOfLocal(url: URL, env: Env): string | undefined {
  if (!isLoopback(url)) return undefined;
  const home = stateHome(env);
  for (const name of clusterNames(home)) {
    const folder = stateFolder(home, name);
    const serving = servingOf(folder);
    if (serving !== undefined && new URL(serving.url).port === url.port) return localToken(folder);
  }
  return undefined;
}

/** How long a head that is being started again is waited for. */
const patience = 30_000;

function localTarget(
  folder: StateFolder,
  env: Env,
  events: EventSink,
  file?: GivenFile,
): Omit<Target, 'headers' | 'verify'> {
  const record = readCluster(folder);
  if (record === undefined && file !== undefined)
    return overSsh(folder, { name: folder.name, config: file.config }, env, events, file);
  if (record === undefined) throw headErrors.NotRunning({ name: folder.name });
  if (record.remote !== undefined) return overSsh(folder, record, env, events, file);
  return {
    shown: `cluster '${folder.name}'`,
    folder,
    async place(signal) {
      const deadline = performance.now() + patience;
      for (let told = false; ; told = true) {
        const serving = servingOf(folder);
        const token = serving && localToken(folder);
        if (serving !== undefined) {
          tellSkew(folder.name, serving.version, events);
          return { url: serving.url, ...(token !== undefined && { token }) };
        }
        if (supervisorOf(folder) === undefined || performance.now() > deadline) {
          const ended = readCluster(folder)?.ended;
          throw ended === undefined ? headErrors.NotRunning({ name: folder.name }) : turnedOff(folder.name, ended);
        }
        if (!told) events.emit(clientEvents.waitsForHead, { cluster: folder.name });
        await wallClock.sleep(50, signal);
      }
    },
  };
}

function overSsh(
  folder: StateFolder,
  record: Pick<ClusterFile, 'name' | 'config'>,
  env: Env,
  events: EventSink,
  file: GivenFile | undefined,
): Omit<Target, 'headers' | 'verify'> {
  let line: Promise<RemoteLine> | undefined;
  return {
    shown: `cluster '${folder.name}'`,
    folder,
    place: async (signal) => {
      line ??= import('./remote.ts').then((remote) => new remote.RemoteLine(folder, record, env, events, file));
      return await (await line).place(signal);
    },
    lost: () => void line?.then((open) => open.lost()),
    close: async () => await (await line)?.close(),
  };
}

function headersOf({ headers }: Manner, env: Env): Record<string, string> {
  const [text, from] = headers === undefined ? [env['RAY_JOB_HEADERS'], 'RAY_JOB_HEADERS'] : [headers, '--headers'];
  if (text === undefined || text === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw clientErrors.BadHeaders({ from, problem: (error as Error).message });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw clientErrors.BadHeaders({ from, problem: 'not a JSON object' });
  for (const [name, each] of Object.entries(value))
    if (typeof each !== 'string' || /[\r\n]/.test(each) || !/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      throw clientErrors.BadHeaders({ from, problem: `'${name}' is no header with a text as its value` });
  return value as Record<string, string>;
}
