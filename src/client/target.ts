import type { EventSink } from '../base/events.ts';
import { wallClock } from '../base/time/wall-clock.ts';
import { withoutTrailing } from '../base/trailing.ts';
import type { LaptopRecord } from '../state/cluster-record.ts';
import { readCluster } from '../state/cluster-record.ts';
import { turnedOff } from '../state/ended.ts';
import { stateErrors } from '../state/errors.ts';
import type { GivenFile } from '../state/load-spec.ts';
import { servingOf, supervisorOf } from '../state/serving.ts';
import type { StateFolder } from '../state/state-folder.ts';
import { clusterNames, stateFolder, stateHome } from '../state/state-folder.ts';
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

/** How requests to a head are sent. */
export interface RequestSettings {
  /** `--headers`: JSON. */
  readonly headers?: string;
  /** `--verify`: `true`, `false`, or a path. @default true */
  readonly verify?: string;
}

/** Where to send requests at this time. */
export interface Endpoint {
  readonly url: string;
  /** A unix socket that leads there, in place of the address in `url`. */
  readonly socket?: string;
  readonly token?: string;
}

/** A cluster that a command talks to. */
export interface Target {
  /** For messages. */
  readonly shown: string;
  /** A cluster of this machine. */
  readonly folder?: StateFolder;
  readonly headers: Readonly<Record<string, string>>;
  readonly verify: string;
  /** What of KubeRay's it is, on Kubernetes: its operator owns the Serve config of a RayService. */
  readonly onKube?: 'RayCluster' | 'RayService' | 'RayJob';
  /** Asked again at each connect: a head that was started again may serve elsewhere. Waits for one that is on its way. */
  place(signal: AbortSignal): Promise<Endpoint>;
  /** The last place did not answer, or broke. */
  lost?(): void;
  close?(): Promise<void>;
}

type Env = Readonly<Record<string, string | undefined>>;

export function targetFor(
  meant: MeantCluster | GivenAddress,
  env: Env,
  events: EventSink,
  settings: RequestSettings = {},
): Target {
  const target =
    'address' in meant
      ? remoteTarget(meant, env, events)
      : localTarget(stateFolder(stateHome(env), meant.name), env, events, meant.file);
  return { ...target, ...settingsOf(settings, env) };
}

/** How requests are sent, as options and the environment say. */
export const settingsOf = (settings: RequestSettings, env: Env): Pick<Target, 'headers' | 'verify'> => ({
  headers: headersOf(settings, env),
  verify: settings.verify ?? 'true',
});

function remoteTarget(
  { address, from }: GivenAddress,
  env: Env,
  events: EventSink,
): Omit<Target, 'headers' | 'verify'> {
  const bad = (problem: string): Error => clientErrors.BadAddress({ address, from, problem });
  if (address.startsWith('ray://')) throw bad('is for the Ray client, not HTTP');
  let url: URL;
  try {
    url = new URL(address.includes('://') ? address : `http://${address}`);
  } catch {
    throw bad('is not a URL');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw bad('is neither http nor https');
  if (url.username !== '' || url.password !== '') throw bad('contains a user or a password; use a token instead');
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
  if (record?.role !== 'laptop') return record && localToken(folder);
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
  if (record === undefined) throw stateErrors.NotRunning({ name: folder.name });
  if (record.role === 'laptop') return overSsh(folder, record, env, events, file);
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
          throw ended === undefined ? stateErrors.NotRunning({ name: folder.name }) : turnedOff(folder.name, ended);
        }
        if (!told) events.emit(clientEvents.waitsForHead, { cluster: folder.name });
        await wallClock.sleep(50, signal);
      }
    },
  };
}

function overSsh(
  folder: StateFolder,
  record: Pick<LaptopRecord, 'name' | 'config'>,
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

function headersOf({ headers }: RequestSettings, env: Env): Record<string, string> {
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
      throw clientErrors.BadHeaders({ from, problem: `the value of '${name}' must be a string` });
  return value as Record<string, string>;
}
