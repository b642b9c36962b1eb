import { randomBytes } from 'node:crypto';
import type { Host } from '../../base/host.ts';
import { bringupErrors } from '../errors.ts';
import { bringupEvents } from '../events.ts';
import { checkRay } from '../ray/check.ts';
import { endRay } from '../ray/end.ts';
import { noTokenModeCode, versionMismatchCode } from '../ray/start.ts';
import { hasTokenMode, type RayVersions, rayVersions, startedVersions } from '../ray/versions.ts';
import type { BringUpEdges } from './bring-up.ts';
import type { CommandPlace, NodeOrder } from './node.ts';
import type { PreparedNode } from './prepare.ts';

export interface Starting {
  readonly edges: BringUpEdges;
  readonly prepared: PreparedNode;
  readonly tell: (step: string, detail?: string) => void;
  readonly nonce: string;
  /** Commands that are done under the same nonce are not run again. */
  readonly commands: (list: readonly string[], nonce: string) => Promise<void>;
}

export async function startRay(
  host: Host,
  order: NodeOrder,
  place: CommandPlace,
  { edges, prepared, tell, nonce, commands }: Starting,
  signal: AbortSignal,
): Promise<RayVersions | undefined> {
  if (order.kind === 'head' && order.token !== undefined && !edges.allowNoAuth && prepared.rayAlive) {
    // A start would find it out too, when the Ray that runs has been stopped for it.
    const found = await rayVersions(host, order, place, signal);
    if (found !== undefined && !hasTokenMode(found))
      throw bringupErrors.RayNoTokenMode({ node: host.name, version: found.ray });
  }
  const all = order.commands.start;
  const stops = edges.headListens ? leadingStops(all) : 0;
  const began = performance.now();
  const waitForHead = async (): Promise<void> => {
    if (edges.headListens) {
      tell('waiting for the head');
      await edges.headListens(signal);
    }
    tell('starting Ray');
  };
  try {
    // What only ends an earlier Ray needs no head.
    if (stops > 0) await commands(all.slice(0, stops), nonce);
    await waitForHead();
    await commands(all.slice(stops), nonce);
  } catch (error) {
    if (!bringupErrors.CommandFailed.is(error)) throw error;
    const { code, command } = error.data;
    const head = edges.head?.();
    if ((code === versionMismatchCode && head) || code === noTokenModeCode) {
      const versions = await startedVersions(host, order, place, signal);
      if (versions && code === noTokenModeCode)
        throw bringupErrors.RayNoTokenMode({ node: host.name, version: versions.ray }, error);
      if (versions && head) throw bringupErrors.RayVersions({ head, worker: { node: host.name, versions } }, error);
    }
    // Ray gives up a start on a machine that is busy; nothing of it may be left when it is tried again.
    edges.events.emit(bringupEvents.retrying, { node: host.name, command, code });
    await endRay(host, { cluster: order.cluster, instance: order.instance, place }, { signal });
    await waitForHead();
    await commands(all, newNonce());
  }
  tell('checking Ray');
  const elapsed = performance.now() - began + 1_000;
  return (await checkRay(host, order, place, { events: edges.events, elapsed, signal })).versions;
}

/** How many commands at the beginning do nothing but stop Ray. */
function leadingStops(commands: readonly string[]): number {
  const others = commands.findIndex((command) => !/^\s*ray\s+stop(?:\s+(?:-f|--force))?\s*$/.test(command));
  return others < 0 ? commands.length : others;
}

/**
 * A start of the same Ray for the same instance that is under way or has come to its end, where its starter did not
 * live to see that, is followed: to begin again would end a node on which work may run already. Any other is a new one.
 */
export function startNonce({ steps, rayAlive }: PreparedNode, nonce: string): string {
  const begun = steps.filter(({ id }) => id.startsWith('start-') && id.includes(`-${nonce}-`));
  if (begun.length === 0) return nonce;
  const failed = begun.some(({ code }) => code !== undefined && code !== 0);
  return !failed && (rayAlive || begun.some(({ code }) => code === undefined)) ? nonce : newNonce();
}

export const newNonce = (): string => randomBytes(6).toString('hex');
