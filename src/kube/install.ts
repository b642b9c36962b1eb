import type { KubeClient } from '../base/kube/client.ts';
import type { Clock, Duration } from '../base/time/clock.ts';
import { manifestErrors } from '../core/kube/errors.ts';
import { isEstablished } from '../core/kube/install.ts';
import { type Json, numberAt } from '../core/kube/object.ts';
import type { Planned } from './apply.ts';

interface Watching {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly timeout: Duration;
  readonly signal: AbortSignal;
}

const pause = 300;

/** Waits until CRDs are served, and until the operator's Deployment runs. */
export async function waitForInstalled({ manifest, path }: Planned, watching: Watching): Promise<void> {
  const { client, clock, timeout, signal } = watching;
  const { kind, name } = manifest;
  const isUp = kind === 'CustomResourceDefinition' ? isEstablished : kind === 'Deployment' ? isRolledOut : undefined;
  if (isUp === undefined) return;
  const until = clock.now() + timeout;
  for (;;) {
    const object = (await client.json({ path, call: `read the ${kind} '${name}'`, signal })) as Json;
    if (isUp(object)) return;
    if (clock.now() > until)
      throw manifestErrors.Failed({
        kind,
        name,
        says: 'it was not up when the time was up',
        next: `see why with 'kubectl describe ${kind.toLowerCase()} ${name}'`,
      });
    await clock.sleep(pause, signal);
  }
}

/** The Deployment runs as it was last changed, with all its pods. */
function isRolledOut(deployment: Json): boolean {
  const wanted = numberAt(deployment, 'spec', 'replicas') ?? 1;
  return (
    numberAt(deployment, 'status', 'observedGeneration') === numberAt(deployment, 'metadata', 'generation') &&
    (numberAt(deployment, 'status', 'updatedReplicas') ?? 0) >= wanted &&
    (numberAt(deployment, 'status', 'availableReplicas') ?? 0) >= wanted
  );
}
