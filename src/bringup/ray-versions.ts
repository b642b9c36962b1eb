import type { Host } from '../base/host.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { isAtLeast, tokensSince } from '../core/ray-version.ts';
import type { NodeOrder, Place } from './node.ts';
import { nodeFolder } from './node.ts';
import { commandProgram } from './shell-text.ts';

/** Ray and Python as they are installed at a place, each as `major.minor.patch`. */
export interface RayVersions {
  readonly ray: string;
  readonly python: string;
}

/** Versions with which the last `ray start` of the node ran; relative to the home of the user at the place. */
export const versionFile = (cluster: string): string => `${nodeFolder(cluster)}/ray-version`;

/**
 * `manta_ray_versions FILE EXPECTED OLDEST` looks which Ray the word `ray` means here, without running it: importing Ray
 * takes a second, its metadata some milliseconds. Writes `RAY PYTHON` into the file below home. Returns 1 when it is
 * another Ray than expected, or a Python of another minor release, and 2 when it is older than the minor release of Ray 2
 * that is given; either may be empty. A Ray that hides its versions is let through.
 */
export const versionText = `
manta_ray_find() {
  local script line python
  script=$(type -P ray) || return 0
  IFS= read -r line <"$script" 2>/dev/null
  python=\${line#'#!'}
  case $line in
    '#!/bin/sh'*) IFS= read -r line < <(sed -n "2s/^'''exec' *//p" "$script"); line=\${line%% \\"\\$0\\"*}; python=\${line#\\"} python=\${python%\\"} ;;
    '#!'*'/env '*) python=$(type -P "\${python##*/env }") ;;
    '#!'*) ;;
    *) return 0 ;;
  esac
  [[ -x \${python%% *} || -x $python ]] || return 0
  [[ -x $python ]] || python=\${python%% *}
  "$python" -c 'import importlib.metadata as m, platform; print(m.version("ray"), platform.python_version())' 2>/dev/null
}
manta_ray_versions() {
  local found major minor
  found=$(manta_ray_find)
  [[ -n $found ]] || return 0
  [[ ! -d ~/\${1%/*} ]] || echo "$found" >~/"$1"
  [[ -z $2 || \${found%.*} = "\${2%.*}" ]] || {
    echo "manta: this node has Ray \${found% *} on Python \${found#* }, its head has Ray \${2% *} on Python \${2#* }" >&2
    return 1
  }
  IFS=. read -r major minor _ <<<"$found"
  [[ -z $3 || $major -gt 2 || $minor -ge $3 ]] || return 2
}
`;

export const versionFunctions: readonly string[] = ['manta_ray_find', 'manta_ray_versions'];

export function hasTokenMode(versions: RayVersions): boolean {
  return isAtLeast(versions.ray, tokensSince);
}

/** The Ray that a login shell at this place finds; undefined where it finds none (start commands may activate one). */
export async function rayVersions(
  host: Host,
  order: Pick<NodeOrder, 'loginShells'>,
  place: Place,
  signal: AbortSignal,
): Promise<RayVersions | undefined> {
  const program = commandProgram(order, place, 'manta_ray_find | sed "s/^/manta-ray /"', {}, versionText);
  return readVersions((await host.sh(program, { signal })).stdout);
}

/** The Ray that the last `ray start` of the node used; undefined when there was none, or it hid its versions. */
export async function startedVersions(
  host: Host,
  order: Pick<NodeOrder, 'loginShells' | 'cluster'>,
  place: Place,
  signal: AbortSignal,
): Promise<RayVersions | undefined> {
  const program = commandProgram({ loginShells: false }, place, startedVersionsText(order.cluster), {});
  return readVersions((await host.sh(program, { signal })).stdout);
}

/** Shell text that prints what `readVersions` reads of the last `ray start`. */
export const startedVersionsText = (cluster: string): string =>
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
