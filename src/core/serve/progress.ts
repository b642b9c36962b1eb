import { dig, entriesAt, isMap, type Json, type JsonMap, listAt, numberAt, textAt } from '../kube/object.ts';
import type { Cause, Headway } from '../progress.ts';
import { isKnownKey } from './schema.ts';

/**
 * Whether Serve runs what it was sent, by its own answer to `GET /api/serve/applications/`. `RUNNING` alone comes too early:
 * it may be of the config before. So each application's config is compared, and its replicas are counted.
 */
export function serveProgress(details: Json, wanted: readonly Json[]): Headway {
  const applications = new Map(entriesAt(details, 'applications'));
  const states = wanted.map((app) => stateOf(app, applications.get(appName(app))));
  const names = new Set(wanted.map(appName));
  const leaving = [...applications].filter(([name, app]) => !names.has(name) && textAt(app, 'source') !== 'imperative');
  const running = states.filter((state) => state.isDone).length;
  const left = leaving.length === 0 ? '' : `, ${leaving.map(([name]) => `'${name}'`).join(', ')} still there`;
  const says = `${running} of ${wanted.length} applications running${left}`;
  if (running === wanted.length && leaving.length === 0) return { state: 'done', says };
  const cause =
    states.find(({ cause: each }) => each?.isFinal)?.cause ??
    states.find(({ cause: each }) => each !== undefined)?.cause;
  return { state: 'waiting', says, ...(cause !== undefined && { cause }) };
}

export const appName = (app: Json): string => textAt(app, 'name') ?? 'default';

interface AppState {
  readonly isDone: boolean;
  readonly cause?: Cause;
}

function stateOf(app: Json, there: Json | undefined): AppState {
  if (there === undefined || !isSameConfig(app, dig(there, 'deployed_app_config'))) return { isDone: false };
  const status = textAt(there, 'status');
  const deployments = entriesAt(there, 'deployments');
  const settled = deployments.every(([, each]) => isSettled(each));
  if (status === 'RUNNING' && settled) return { isDone: true };
  const cause = appCause(appName(app), there);
  return { isDone: false, ...(cause !== undefined && { cause }) };
}

/** As many replicas run as are meant to. */
function isSettled(deployment: Json): boolean {
  const target = numberAt(deployment, 'target_num_replicas');
  const running = listAt(deployment, 'replicas').filter((replica) => textAt(replica, 'state') === 'RUNNING').length;
  return textAt(deployment, 'status') === 'HEALTHY' && (target === undefined || running >= target);
}

function appCause(name: string, app: Json): Cause | undefined {
  const status = textAt(app, 'status');
  const said = plainText(textAt(app, 'message') ?? '');
  const failing = entriesAt(app, 'deployments').find(([, each]) =>
    ['DEPLOY_FAILED', 'UNHEALTHY'].includes(textAt(each, 'status') ?? ''),
  );
  // The deployment's own words have the traceback; those of the application only name the deployment.
  const words = plainText(textAt(failing?.[1], 'message') ?? '') || said;
  if (status === 'DEPLOY_FAILED')
    return failedCause(name, words, failing?.[0], textAt(app, 'deployed_app_config', 'runtime_env', 'working_dir'));
  if (failing !== undefined || status === 'UNHEALTHY')
    return {
      kind: 'deploy failed',
      says: `the application '${name}' is unhealthy${failing === undefined ? '' : ` (deployment '${failing[0]}')`}: ${lastLines(words)}`,
      next: 'Serve keeps trying; if this does not change, see its log',
      isFinal: false,
    };
  const [slow] = entriesAt(app, 'deployments').filter(
    ([, each]) => textAt(each, 'status') === 'UPDATING' && textAt(each, 'message'),
  );
  const waiting = plainText(textAt(slow?.[1], 'message') ?? '');
  if (slow === undefined || !/scheduled|initialize|resources/i.test(waiting)) return undefined;
  if (/Traceback|Error\b/.test(waiting))
    return {
      kind: 'deploy failed',
      says: `a replica of '${slow[0]}' of '${name}' failed and is tried again: ${lastLines(waiting, 1)}`,
      next: 'if it stays so, correct the code or the config, and deploy again',
      isFinal: false,
    };
  return {
    kind: 'unschedulable',
    says: `the deployment '${slow[0]}' of '${name}' waits: ${lastLines(waiting)}`,
    next: 'ask for less in ray_actor_options or num_replicas, or add nodes to the cluster',
    isFinal: false,
  };
}

/** What ended a deployment: the code that could not be fetched is told apart, as it is nothing that the application did. */
function failedCause(
  name: string,
  words: string,
  deployment: string | undefined,
  workingDir = 'its working_dir',
): Cause {
  const [, named] = /for url: (\S+)/.exec(words) ?? [];
  const isDownload = /runtime_env|working_dir|py_modules|package/i.test(words);
  if (isDownload && /not a zip file|BadZipFile/i.test(words))
    return {
      kind: 'working_dir',
      says: `the application '${name}' cannot start: ${workingDir} is not a zip file`,
      next: 'put a zip file there, with the code at its top or in one folder; pages of GitHub are not archives, /archive/….zip is',
      isFinal: true,
    };
  const [, code] = /\b(?:HTTP ?Error|status code|HTTP)[ :]*(40\d|410)\b/i.exec(words) ?? [];
  if (isDownload && code !== undefined)
    return {
      kind: 'working_dir',
      says: `the application '${name}' cannot start: ${named ?? workingDir} answers ${code}`,
      next: 'check the address from inside the cluster; a private one needs RAY_RUNTIME_ENV_BEARER_TOKEN in the pod template',
      isFinal: true,
    };
  return {
    kind: 'deploy failed',
    says: `the application '${name}' failed to deploy${deployment === undefined ? '' : ` (deployment '${deployment}')`}:\n${lastLines(words, 15)}`,
    next: 'correct the code or the config, and deploy again',
    isFinal: true,
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const colour = /\u001B\[[0-9;]*[A-Za-z]/g;

/** Tracebacks come with colours of the terminal that nobody sat at. */
export const plainText = (text: string): string => text.replace(colour, '').trim();

const lastLines = (text: string, most = 3): string => {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(-most).join('\n');
};

/** Parts in which Serve fills in defaults of its own. */
const filled = new Set([
  'autoscaling_config',
  'request_router_config',
  'gang_scheduling_config',
  'logging_config',
  'backpressure_config',
]);

/**
 * Whether Serve has the config of an application that was sent. What it does not know it drops; what nobody set it leaves
 * out, except in a few parts, and the logging that is set for all applications.
 */
function isSameConfig(sent: Json, deployed: Json | undefined): boolean {
  if (!isMap(sent) || !isMap(deployed)) return false;
  return isSameMap(sent, deployed, 'application', new Set(['logging_config']));
}

type Level = 'application' | 'deployment' | 'ray_actor_options';

function isSameMap(sent: JsonMap, deployed: JsonMap, level: Level, extra: ReadonlySet<string>): boolean {
  const keys = new Set([...Object.keys(sent), ...Object.keys(deployed)]);
  return [...keys].every((key) => {
    const [mine, theirs] = [dig(sent, key), dig(deployed, key)];
    if (mine === undefined) return extra.has(key);
    if (theirs === undefined) return !isKnownKey(level, key);
    return isSameField(key, mine, theirs, level);
  });
}

function isSameField(key: string, mine: Json, theirs: Json, level: Level): boolean {
  if (level === 'application' && key === 'deployments')
    return (
      Array.isArray(mine) &&
      Array.isArray(theirs) &&
      mine.length === theirs.length &&
      (mine as readonly Json[]).every((each, at) => {
        const other = (theirs as readonly Json[])[at];
        return isMap(each) && isMap(other) && isSameMap(each, other, 'deployment', new Set());
      })
    );
  if (key === 'ray_actor_options' && isMap(mine) && isMap(theirs))
    return isSameMap(mine, theirs, 'ray_actor_options', new Set());
  if (filled.has(key) && isMap(mine) && isMap(theirs))
    return Object.entries(mine).every(([name, value]) => isSameValue(value, dig(theirs, name) ?? null));
  return isSameValue(mine, theirs);
}

/** Numbers may have come as texts, which Serve reads as numbers where it wants some. */
function isSameValue(mine: Json, theirs: Json): boolean {
  if (Array.isArray(mine) || Array.isArray(theirs)) {
    if (!Array.isArray(mine) || !Array.isArray(theirs) || mine.length !== theirs.length) return false;
    return (mine as readonly Json[]).every((each, at) => isSameValue(each, (theirs as readonly Json[])[at]!));
  }
  if (isMap(mine) && isMap(theirs)) {
    const keys = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
    return [...keys].every((key) => {
      const [a, b] = [dig(mine, key), dig(theirs, key)];
      return a !== undefined && b !== undefined && isSameValue(a, b);
    });
  }
  return (
    mine === theirs ||
    (typeof mine !== typeof theirs && mine !== null && theirs !== null && String(mine) === String(theirs))
  );
}
