/**
 * The programs that run a user's commands on a host or in its container. A program is POSIX sh and goes to the host on
 * standard input; what the user wrote goes on to its shell on standard input too, so that no word of it, and no value of
 * its environment, ever stands in a process table.
 */
import { markVariable } from '../../base/process.ts';
import { readShell } from '../../base/shell/shell-file.ts';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import { driverSettings } from '../ray/settings.ts';
import { stagingOf } from '../sync/staging.ts';
import type { CommandPlace, NodeOrder } from './node.ts';
import { nodeFolder } from './node.ts';

const loginShell = readShell(new URL('./login-shell.bash', import.meta.url));
const loginText = readShell(new URL('./login-settings.sh', import.meta.url));

/**
 * A variable's value: as it stands, below the home of the user at the place, added to what the place has, or what it is
 * where the place has none.
 */
export type EnvironmentValue =
  | string
  | { readonly home: string }
  | { readonly append: string }
  | { readonly otherwise: string };

export type NodeEnvironment = Readonly<Record<string, EnvironmentValue>>;

/** `export` lines that any shell understands. */
export function exportText(environment: NodeEnvironment): string {
  return Object.entries(environment)
    .map(([name, value]) => `export ${name}=${valueText(name, value)}\n`)
    .join('');
}

function valueText(name: string, value: EnvironmentValue): string {
  if (typeof value === 'string') return shellQuoted(value);
  if ('home' in value) return `"$HOME"/${shellQuoted(value.home)}`;
  return 'append' in value ? `"\${${name}-}"${shellQuoted(value.append)}` : `"\${${name}-${value.otherwise}}"`;
}

/** Files of a node, relative to the home of the user at the place: in a container, of the user in there. */
export const tokenFile = (cluster: string): string => `${nodeFolder(cluster)}/token`;
export const environmentFile = (cluster: string): string => `${nodeFolder(cluster)}/env.sh`;

/** How the file that `ray up` leaves on a head, and Manta too, names its cluster. */
export const namedByRay = (cluster: string): string => `"cluster_name": "${cluster}"`;

export const rayBootstrapFile = '~/ray_bootstrap_config.yaml';

/** The word by which everything that was started for a node is found again; in the form of `markVariable`. */
export const markWord = (cluster: string, instance: string): string => `${markPart(cluster)}/${markPart(instance)}`;

/** What may stand in a mark: nothing that a shell, a pattern or the mark itself gives a meaning. */
export const markPart = (name: string): string =>
  [...name].map((letter) => (/[\w.-]/.test(letter) ? letter : `%${letter.codePointAt(0)?.toString(16)}`)).join('');

/**
 * What a node's initialization and setup commands see. `$MANTA_FILES/PATH` is the file that is mounted at `/PATH`, on the
 * host as in the container.
 */
export function setupEnvironment(order: NodeOrder, place: CommandPlace = { kind: 'host' }): NodeEnvironment {
  const staged = place.kind === 'host' && order.commands.container !== undefined;
  return {
    ...(order.kind === 'worker' && { RAY_HEAD_IP: order.headAddress }),
    ...order.environment,
    MANTA_FILES: staged ? stagingOf(order) : '',
  };
}

/** What everything that talks to Ray on this node needs. */
export function authEnvironment(order: NodeOrder): NodeEnvironment {
  return {
    // Set in any case: without it Ray decides by what lies in the user's home, and on the head alone.
    RAY_AUTH_MODE: order.token === undefined ? 'disabled' : 'token',
    ...(order.token !== undefined && { RAY_AUTH_TOKEN_PATH: { home: tokenFile(order.cluster) } }),
    // Ray itself refuses nodes and drivers of another patch release of Python.
    RAY_DEFAULT_PYTHON_VERSION_MATCH_LEVEL: 'minor',
  };
}

/**
 * What sessions of users on the node get (exec, attach, submit); the text of `env.sh`. Ray processes that are started in
 * one belong to the cluster and are ended with it; the sessions themselves are not.
 */
export function sessionEnvironment(order: NodeOrder): NodeEnvironment {
  return {
    ...authEnvironment(order),
    ...(order.kind === 'head' && driverSettings),
    [markVariable]: { append: `:${markWord(order.cluster, order.instance)}:session:` },
  };
}

/**
 * Sh program that runs one command of the user at its place and exits with the command's own code. Standard input is
 * empty there. `prelude` is shell text that runs in the command's own shell just before it.
 */
export function commandProgram(
  order: Pick<NodeOrder, 'loginShells'>,
  place: CommandPlace,
  command: string,
  environment: NodeEnvironment,
  prelude = '',
): string {
  const text = [
    'exec 9<&-\n',
    place.kind === 'host' ? 'cd\n' : '',
    order.loginShells ? loginText : '',
    exportText(environment),
    prelude,
    // In a shell below, because a login shell that is left by `exit` takes leave in words.
    `( eval ${shellQuoted(command)} )\n`,
  ].join('');
  return programAt(place, text, order.loginShells ? loginShell : plainShell);
}

/** Sh program that runs bash text at a place, with nothing of the user's start-up files there. */
export const bashAt = (place: CommandPlace, text: string): string => programAt(place, `exec 9<&-\n${text}`, plainShell);

function programAt(place: CommandPlace, text: string, shell: string): string {
  const feed = (words: string): string => `printf %s ${shellQuoted(text)} | ${words}bash -c ${shellQuoted(shell)}\n`;
  if (place.kind === 'host') return feed('');
  // The way to the engine (DOCKER_HOST, PATH) may stand in the start-up files of the user on the host.
  const inside = `exec 9<&-\n${loginText}${feed(`${place.engine} exec -i ${shellQuoted(place.name)} `)}`;
  return `printf %s ${shellQuoted(inside)} | bash -c ${shellQuoted(loginShell)}\n`;
}

/** Sh program that runs sh text in a container with a file of the host as its standard input. */
export function feedAt(place: CommandPlace & { readonly kind: 'container' }, file: string, text: string): string {
  const inside = `exec 9<&-\n${loginText}${place.engine} exec -i ${shellQuoted(place.name)} sh -c ${shellQuoted(text)} <${shellQuoted(file)}\n`;
  return `printf %s ${shellQuoted(inside)} | bash -c ${shellQuoted(loginShell)}\n`;
}

const plainShell = `exec 9<&0 </dev/null; eval "$(cat <&9)"`;
