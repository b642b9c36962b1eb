/**
 * A user's start commands are shell text and run as they are written. What Manta needs of them is put in front: the
 * environment, and a shell function `ray` that adds flags to `ray start --head`. It is exported, so that sub-shells see
 * it; it misses `sudo`, absolute paths and shells other than bash, which the check after the start finds.
 */
import { isIPv6 } from 'node:net';
import { markVariable } from '../../base/process.ts';
import { readShell, shellProgram } from '../../base/shell/shell-file.ts';
import { tokensSince } from '../../core/ray-version.ts';
import type { CommandPlace, NodeOrder } from '../node/node.ts';
import type { NodeEnvironment } from '../node/shell-text.ts';
import { authEnvironment, commandProgram, markWord, setupEnvironment } from '../node/shell-text.ts';
import { markPattern, processText } from './processes.ts';
import { headSettings, nodeSettings } from './settings.ts';
import type { RayVersions } from './versions.ts';
import { versionFile, versionText } from './versions.ts';

const program = readShell(new URL('./ray-start.bash', import.meta.url));

/** Exit code of a start command whose Ray or Python is not the head's. */
export const versionMismatchCode = 86;
/** Exit code of a start command whose Ray has no token authentication where it is needed. */
export const noTokenModeCode = 87;

/** What a `ray start` is refused for, before anything is started. */
export interface StartTerms {
  /** Of the head: another Ray, or another minor release of Python, is refused with `versionMismatchCode`. */
  readonly versions?: RayVersions | undefined;
  /** A Ray that knows no token is refused with `noTokenModeCode`. */
  readonly tokenMode?: boolean;
}

/** What the start commands see, and all that they start. */
function startEnvironment(order: NodeOrder, place: CommandPlace, command: string): NodeEnvironment {
  return {
    ...setupEnvironment(order, place),
    ...(order.kind === 'worker' && { RAY_HEAD_IP: headInUrl(order.headAddress, command) }),
    ...authEnvironment(order),
    RAY_CLOUD_INSTANCE_ID: order.instance,
    RAY_NODE_TYPE_NAME: order.type,
    ...nodeSettings,
    ...(order.resources !== undefined && { RAY_OVERRIDE_RESOURCES: JSON.stringify(order.resources) }),
    ...(order.labels !== undefined && { RAY_OVERRIDE_LABELS: JSON.stringify(order.labels) }),
    ...(order.kind === 'head' && {
      RAY_USAGE_STATS_ENABLED: order.usageStats ? '1' : '0',
      // Ray's own tools then show what mantad reports, and not what Ray's monitor would have written.
      RAY_enable_autoscaler_v2: '1',
      ...headSettings(order.mostWorkers),
    }),
    [markVariable]: { append: `:${markWord(order.cluster, order.instance)}:` },
  };
}

/**
 * The head's address as it stands before a port in `--address=$RAY_HEAD_IP:6379`: Ray takes an IPv6 address there in
 * brackets only. A command that writes the brackets itself gets the address without.
 */
function headInUrl(address: string, command: string): string {
  return isIPv6(address) && !/\[\$\{?RAY_HEAD_IP\}?\]/.test(command) ? `[${address}]` : address;
}

/** Sh program that runs one of the node's start commands. */
export function startProgram(order: NodeOrder, place: CommandPlace, command: string, terms: StartTerms = {}): string {
  return commandProgram(order, place, command, startEnvironment(order, place, command), rayFunction(order, terms));
}

/**
 * Bash text that defines and exports `ray`. Its `ray stop` ends Ray as Ray's own does, in a fraction of the time, and
 * leaves alone what that would take with it on a shared machine: Rays of other users and of other clusters.
 */
const rayFunction = (order: NodeOrder, { versions: wanted, tokenMode }: StartTerms): string =>
  shellProgram(`${processText}${versionText}${program}`, {
    manta_pattern: markPattern(order.cluster),
    manta_version_file: versionFile(order.cluster),
    manta_expected: wanted === undefined ? '' : `${wanted.ray} ${wanted.python}`,
    manta_oldest: tokenMode ? tokensSince.split('.')[1] : '',
    manta_dashboard_port: order.dashboardPort,
    manta_mismatch: versionMismatchCode,
    manta_no_token: noTokenModeCode,
  });
