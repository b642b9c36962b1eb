import { createHash } from 'node:crypto';
import type { Host, RunOptions } from '../../base/host.ts';
import { type NodeOrder, nodeFolder } from './node.ts';

/** What was completed on a host, each part under the fingerprint of what determined it. Kept on the host itself. */
export interface NodeRecord {
  readonly instance: string;
  readonly files?: string;
  readonly initialization?: string;
  readonly container?: string;
  readonly setup?: string;
  readonly start?: string;
  /** How often commands were completed here: the same commands, wanted again after others, are run again. */
  readonly generation?: number;
  /** Versions that the start found. */
  readonly versions?: { readonly ray: string; readonly python: string };
}

export type Part = 'files' | 'initialization' | 'container' | 'setup' | 'start';

/** What the parts of a node depend on; a part is done again when its fingerprint is another. */
export function fingerprints(order: NodeOrder, contents: string): Readonly<Record<Part, string>> {
  const { commands, files } = order;
  const container = hashOf(
    commands.container ?? null,
    commands.container ? (files.mountable ?? files.mounts).map((each) => each.remote) : [],
  );
  return {
    files: contents,
    // As in Ray, commands see the files, so that other files are a reason to run them again. So is another start of the
    // machine: logins, such as the one to a registry, may have expired while it was stopped.
    initialization: hashOf(
      commands.initialization,
      contents,
      ...(order.startedAt === undefined ? [] : [order.startedAt]),
    ),
    container,
    setup: hashOf(commands.setup, container, contents),
    start: hashOf(
      // Setup that is done again leaves a Ray that runs as it is, unless it brought another Ray.
      commands.start,
      container,
      order.resources ?? null,
      order.labels ?? null,
      order.loginShells,
      order.headAddress,
      order.dashboardPort ?? null,
      order.token === undefined,
    ),
  };
}

const hashOf = (...values: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 24);

export function parseRecord(text: string): NodeRecord | undefined {
  try {
    const value = JSON.parse(text) as NodeRecord;
    return typeof value.instance === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

export const writeRecord = (host: Host, cluster: string, record: NodeRecord, options: RunOptions): Promise<void> =>
  host.put(`~/${nodeFolder(cluster)}/record.json`, Buffer.from(`${JSON.stringify(record)}\n`), 0o600, options);

/** Whether Ray is started where it runs and nothing changed, where something changed, or only where none runs. */
export type Restart = 'always' | 'changed' | 'never';

/** Whether a node's Ray is started. A container that is recreated has none, whatever was asked. */
export function startsRay(
  restart: Restart,
  node: { readonly rayAlive: boolean; readonly remade: boolean; readonly outdated: ReadonlySet<Part> },
): boolean {
  if (!node.rayAlive || node.remade || restart === 'always') return true;
  return restart === 'changed' && node.outdated.has('start');
}

/** Parts of a wanted node that are not as the record says. */
export function outdatedParts(
  record: NodeRecord | undefined,
  wanted: Readonly<Record<Part, string>>,
): ReadonlySet<Part> {
  const parts: readonly Part[] = ['files', 'initialization', 'container', 'setup', 'start'];
  return new Set(parts.filter((part) => record?.[part] !== wanted[part]));
}
