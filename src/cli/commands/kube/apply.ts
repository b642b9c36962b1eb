import type { KubeClient } from '../../../base/kube/client.ts';
import { kubeErrors } from '../../../base/kube/errors.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import { manifestErrors } from '../../../core/kube/errors.ts';
import type { Manifest } from '../../../core/kube/manifest.ts';
import type { Json } from '../../../core/kube/object.ts';
import { type Applying, applyPlanned, type Planned, planApply } from '../../../kube/apply.ts';
import { kubeEvents } from '../../../kube/events.ts';
import { keepGood } from '../../../kube/last-good.ts';
import { KubePaths } from '../../../kube/paths.ts';
import { waitForObject } from '../../../kube/wait-object.ts';
import type { InvocationOf, Io, Run } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import { withKube } from './connect.ts';
import type { kubeApplyOptions } from './declaration.ts';
import { openManifests } from './manifests.ts';
import { effects, planJson, planText } from './plan-text.ts';
import { rollbackManifests } from './rollback.ts';
import { addScaler } from './scaler.ts';
import { withServeConfig } from './serve-config.ts';

type Options = InvocationOf<typeof kubeApplyOptions>['options'];

export const run: Run<typeof kubeApplyOptions> = async ({ args, options }, io) => {
  // Files are read first: what is wrong with them needs no API server.
  const files = options.rollback
    ? undefined
    : await withServeConfig(await openManifests(args, io), options.serveConfig, io);
  return await withKube(options, io, async (client) => {
    const given = files ?? (await rollbackManifests(args, client, io));
    const manifests = options.scaler === undefined ? given : await addScaler(given, options, client, io);
    const applying: Applying = {
      client,
      resources: new KubePaths(client),
      force: options.forceConflicts,
      fresh: new Set(manifests.filter(({ kind }) => kind === 'Namespace').map(({ name }) => name)),
      signal: io.signal,
    };
    return await applyAll(manifests, applying, options, io);
  });
};

/** Shows what would change, asks, applies all objects in order, and waits for those of KubeRay. */
export async function applyAll(
  manifests: readonly Manifest[],
  applying: Applying,
  options: Pick<Options, 'plan' | 'yes' | 'wait' | 'timeout'>,
  io: Io,
): Promise<number> {
  const planned: Planned[] = [];
  for (const manifest of manifests) planned.push(await planApply(manifest, applying));
  const changed = planned.filter(({ change }) => change.effect !== 'unchanged');
  io.out(io.json ? `${JSON.stringify({ plan: planned.map(planJson) })}\n` : planned.map(planText).join(''));
  if (options.plan) return 0;
  const nobody = () => manifestErrors.NobodyAgreed({ objects: changed.length });
  if (changed.length > 0 && !(await confirmed('Apply this?', options.yes, io, { nobody }))) {
    io.out('Nothing was applied.\n');
    return 1;
  }
  const live = new Map<Planned, Json>();
  for (const each of planned) {
    live.set(each, await applyPlanned(each, applying));
    const { kind, name } = each.manifest;
    io.events.emit(kubeEvents.applied, { kind, name, effect: effects[each.change.effect] });
  }
  if (options.wait)
    for (const each of planned) {
      const { client, signal } = applying;
      const waiting = { client, clock: wallClock, events: io.events, timeout: options.timeout * 1_000, signal };
      if (await waitForObject(each, waiting)) await keep(each, live.get(each)!, client, io);
    }
  return 0;
}

/** A rollback is a convenience: who may not write Secrets can do without it. */
async function keep(planned: Planned, live: Json, client: KubeClient, io: Io): Promise<void> {
  try {
    await keepGood(planned, live, { client, signal: io.signal });
  } catch (error) {
    if (!kubeErrors.Forbidden.is(error)) throw error;
    const { kind, name } = planned.manifest;
    io.events.emit(kubeEvents.notKept, { kind, name });
  }
}
