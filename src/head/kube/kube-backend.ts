import { readFileSync } from 'node:fs';
import { loopSettings } from '../../autoscaler/settings.ts';
import { clearInstances } from '../../autoscaler/teardown.ts';
import { messageOf } from '../../base/errors.ts';
import { makeFolder } from '../../base/files/json-file.ts';
import { KubeClient } from '../../base/kube/client.ts';
import { openKubeAccess } from '../../base/kube/config.ts';
import { watch } from '../../base/kube/watch.ts';
import type { Clock } from '../../base/time/clock.ts';
import { doubling, retry } from '../../base/time/retry.ts';
import { type Json, textAt } from '../../core/kube/object.ts';
import { headGroup } from '../../core/kube/scaling-spec.ts';
import type { ClusterSpec } from '../../core/spec/cluster.ts';
import { RayEngine } from '../../engines/ray/engine.ts';
import type { GcsTls } from '../../engines/ray/gcs/gcs-tls.ts';
import { KubeRayProvider } from '../../providers/kuberay/provider.ts';
import { podsPath, workersOf } from '../../providers/kuberay/ray-cluster.ts';
import type { ThisMachineRecord } from '../../state/cluster-record.ts';
import type { Backend, BackendContext } from '../backend/backend.ts';
import { type RayFront, rayFront } from '../gateway/ray-front.ts';
import { RayReports } from '../ray/watch/ray-reports.ts';
import { specOfRayCluster } from './kube-spec.ts';

const loopback = '127.0.0.1';
const lookEvery = 500;
const watchAgain = 10_000;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Ray on Kubernetes: mantad stands in the head's pod, in the place of Ray's own autoscaler. KubeRay makes and ends pods, and starts
 * Ray in them; what the cluster is meant to be stands in its RayCluster.
 */
export async function kubeBackend(
  { namespace, name }: NonNullable<ThisMachineRecord['kube']>,
  { folder, clock, events, log, wake }: BackendContext,
  env: Env = process.env,
): Promise<Backend> {
  const client = new KubeClient(openKubeAccess({ env, namespace }), clock);
  const ending = new AbortController();
  const meant = new MeantSpec(log);
  const pod = env['RAY_HEAD_POD_NAME'];
  const provider = new KubeRayProvider({
    client,
    namespace,
    name,
    clock,
    ...(pod !== undefined && { head: { pod, type: headGroup } }),
    events,
    onRead: (cluster) => meant.read(cluster),
  });
  await retry(() => provider.list(ending.signal), {
    clock,
    pause: doubling(500, 10_000),
    again: (error) => {
      log(`the RayCluster '${name}' cannot be read yet: ${messageOf(error)}`);
      return true;
    },
  });

  log(`Manta's planner scales the RayCluster '${name}' in '${namespace}'`);

  const { engine, ray } = rayOf(meant.cluster, { folder, clock, events }, env);
  const reports = new RayReports({ engine, clock, spec: () => meant.spec, log, ending: ending.signal });
  let isReady = false;
  return {
    engine,
    provider,
    // KubeRay starts Ray in each pod.
    starter: { bringUp: async () => {}, halt: (id, signal) => provider.terminate([id], signal) },
    ray,
    // Lists are those of the API server itself and do not lag; a pod is there within seconds of its patch.
    settings: {
      listLag: 2_000,
      demandLag: 1_000,
      batchIdle: 20,
      batchMax: 500,
      bootSweep: 2_000,
      timeouts: { ...loopSettings.timeouts, absent: 2_000 },
    },
    spec: () => meant.spec,
    complete: (spec) => spec,
    ready: () => isReady,
    addressOf: () => undefined,
    reloaded: () => {},
    keep: async (signal) => {
      void wakeOnPods({ client, clock, signal, namespace, name }, wake);
      while (!signal.aborted) {
        isReady = await engine.headReady(signal).catch(() => false);
        await clock.sleep(lookEvery * (isReady ? 10 : 1), signal).catch(() => {});
      }
    },
    onPass: (status, plan) => reports.pass(status(), plan),
    onEvent: (kind, data) => {
      reports.hear(kind, data);
      // For `kubectl logs`.
      if (kind.level !== 'debug') log(kind.text(data));
    },
    // It never ends by itself: that is up to the user who applied the RayCluster.
    activity: async () => [],
    tell: (text, signal) => engine.tellDrivers([{ level: 'warn', text, at: clock.now() }], signal),
    turnOff: (signal) => clearInstances(provider, { clock }, signal),
    close: async () => {
      ending.abort();
      await engine.close();
      client.close();
    },
  };
}

/** The Ray of the pod: the network of its containers is one. */
function rayOf(
  cluster: Json | undefined,
  { folder, clock, events }: Pick<BackendContext, 'folder' | 'clock' | 'events'>,
  env: Env,
): { readonly engine: RayEngine; readonly ray: RayFront } {
  const ports = portsOf(cluster);
  const token = env['RAY_AUTH_TOKEN'];
  const auth = token !== undefined && { token };
  const engine = new RayEngine({
    address: `${loopback}:${ports.gcs}`,
    dashboard: `http://${loopback}:${ports.dashboard}`,
    ...auth,
    tls: () => tlsFrom(env),
    folder: makeFolder(folder.files.attempts),
    clock,
    events,
  });
  return { engine, ray: rayFront({ engine, dashboardPort: ports.dashboard, head: loopback, ...auth }) };
}

interface PodWatch {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly namespace: string;
  readonly name: string;
}

/** A pod that comes, runs or goes is looked at at once. Without it the loop finds out a little later. */
async function wakeOnPods({ client, clock, signal, namespace, name }: PodWatch, wake: () => void): Promise<void> {
  const call = `watch pods in the namespace '${namespace}'`;
  const pods = { path: podsPath(namespace), query: { labelSelector: workersOf(name) }, call, signal };
  while (!signal.aborted) {
    try {
      for await (const _ of watch(client, pods, { clock })) wake();
    } catch {
      await clock.sleep(watchAgain, signal).catch(() => {});
    }
  }
}

/** The spec as the RayCluster says it now; one that cannot be read changes nothing. */
class MeantSpec {
  readonly #log: (line: string) => void;
  #cluster: Json | undefined;
  #spec: ClusterSpec | undefined;
  #text = '';

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  get spec(): ClusterSpec {
    if (this.#spec === undefined) throw new Error('no RayCluster was read yet');
    return this.#spec;
  }

  get cluster(): Json | undefined {
    return this.#cluster;
  }

  read(cluster: Json): void {
    this.#cluster = cluster;
    let spec: ClusterSpec;
    try {
      spec = specOfRayCluster(cluster);
    } catch (error) {
      if (this.#spec === undefined) throw error;
      if (this.#text !== messageOf(error)) this.#log(`the RayCluster was not applied: ${messageOf(error)}`);
      this.#text = messageOf(error);
      return;
    }
    const text = JSON.stringify(spec);
    if (text !== this.#text) this.#spec = spec;
    this.#text = text;
  }
}

/** Ray's own, unless the RayCluster says otherwise. */
function portsOf(cluster: Json | undefined): { readonly gcs: number; readonly dashboard: number } {
  const param = (name: string, usual: number): number =>
    Number(textAt(cluster, 'spec', 'headGroupSpec', 'rayStartParams', name) ?? usual) || usual;
  return { gcs: param('port', 6379), dashboard: param('dashboard-port', 8265) };
}

/** The processes of Ray's container cannot be seen from this one: their certificates are mounted here too, under the same names. */
function tlsFrom(env: Env): GcsTls | undefined {
  if (!/^(?:1|true)$/i.test(env['RAY_USE_TLS'] ?? '')) return undefined;
  const read = (variable: string): Uint8Array => readFileSync(env[variable] ?? '');
  return { ca: read('RAY_TLS_CA_CERT'), cert: read('RAY_TLS_SERVER_CERT'), key: read('RAY_TLS_SERVER_KEY') };
}
