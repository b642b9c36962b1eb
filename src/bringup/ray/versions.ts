import type { Host } from '../../base/host.ts';
import { readShell } from '../../base/shell/shell-file.ts';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import { isAtLeast, tokensSince } from '../../core/ray-version.ts';
import type { CommandPlace, NodeOrder } from '../node/node.ts';
import { nodeFolder } from '../node/node.ts';
import { commandProgram } from '../node/shell-text.ts';

/** Ray and Python as they are installed at a place, each as `major.minor.patch`. */
export interface RayVersions {
  readonly ray: string;
  readonly python: string;
}

/** Versions with which the last `ray start` of the node ran; relative to the home of the user at the place. */
export const versionFile = (cluster: string): string => `${nodeFolder(cluster)}/ray-version`;

/** Bash functions that tell which Ray a `ray start` would run. */
export const versionText = readShell(new URL('./ray-versions.bash', import.meta.url));

export function hasTokenMode(versions: RayVersions): boolean {
  return isAtLeast(versions.ray, tokensSince);
}

/** The Ray that a login shell at this place finds; undefined where it finds none (start commands may activate one). */
export async function rayVersions(
  host: Host,
  order: Pick<NodeOrder, 'loginShells'>,
  place: CommandPlace,
  signal: AbortSignal,
): Promise<RayVersions | undefined> {
  const program = commandProgram(order, place, 'manta_ray_find | sed "s/^/manta-ray /"', {}, versionText);
  return readVersions((await host.sh(program, { signal })).stdout);
}

/** The Ray that the last `ray start` of the node used; undefined when there was none, or it hid its versions. */
export async function startedVersions(
  host: Host,
  order: Pick<NodeOrder, 'loginShells' | 'cluster'>,
  place: CommandPlace,
  signal: AbortSignal,
): Promise<RayVersions | undefined> {
  const program = commandProgram({ loginShells: false }, place, startedVersionsText(order.cluster), {});
  return readVersions((await host.sh(program, { signal })).stdout);
}

/** Shell text that prints what `readVersions` reads of the last `ray start`. */
const startedVersionsText = (cluster: string): string =>
  `sed 's/^/manta-ray /' ~/${shellQuoted(versionFile(cluster))} 2>/dev/null`;

// Start-up files of a login shell may print whatever they like.
export function readVersions(output: string): RayVersions | undefined {
  const found = /^manta-ray (\S+) (\S+)$/m.exec(output);
  return found?.[1] && found[2] ? { ray: found[1], python: found[2] } : undefined;
}

/** A node and what was found on it. */
export interface NodeVersions {
  readonly node: string;
  readonly versions: RayVersions;
}
