/**
 * The part of an API server that a head pod of KubeRay may use, with the operator behind it: one RayCluster that can be read and
 * patched, and its pods, which can be listed. For tests that need hundreds of launches in seconds; see behaviour.md.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { jsonPatched, type PatchStep } from './json-patch.ts';
import { type Cluster, type Group, type Pod, reconcile, word } from './operator.ts';

export interface KubeRayWorld {
  readonly url: string;
  readonly namespace: string;
  readonly name: string;
  readonly cluster: Cluster;
  readonly pods: ReadonlyMap<string, Pod>;
  /** What goes wrong from now on. */
  faults: Faults;
  /** As somebody else would change the RayCluster. */
  edit(change: (cluster: Cluster) => void): void;
  /** The machine under a pod is gone: its object goes after a moment, and the operator makes another. */
  lose(pod: string): void;
  close(): Promise<void>;
}

export interface Faults {
  /** Status of the next patch, which does nothing. */
  readonly refuse?: number;
  /** The next patch is carried out, and nobody hears of it. */
  readonly loseAnswer?: boolean;
  /** Pods are made, and no node has room for them, in these words. */
  readonly noRoom?: string;
  /** Pods are not let in, in these words. */
  readonly notLetIn?: string;
  /** The operator does nothing. */
  readonly operatorDown?: boolean;
}

const moment = 5;

export async function serveKubeRay(groups: readonly Partial<Group>[]): Promise<KubeRayWorld> {
  const world = new StandIn(groups);
  await world.listen();
  return world;
}

class StandIn implements KubeRayWorld {
  readonly namespace = 'ray';
  readonly name = 'demo';
  readonly pods = new Map<string, Pod>();
  faults: Faults = {};
  cluster: Cluster;
  readonly #server: Server;
  readonly #timers = new Set<NodeJS.Timeout>();
  #version = 1;
  #addresses = 1;

  constructor(groups: readonly Partial<Group>[]) {
    this.cluster = {
      metadata: { name: this.name, namespace: this.namespace, resourceVersion: '1' },
      spec: {
        enableInTreeAutoscaling: true,
        workerGroupSpecs: groups.map((group) => ({
          groupName: 'worker',
          replicas: 0,
          minReplicas: 0,
          maxReplicas: 100,
          numOfHosts: 1,
          ...group,
        })),
      },
      status: { conditions: [] },
    };
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#reconcileSoon();
  }

  edit(change: (cluster: Cluster) => void): void {
    const copy = structuredClone(this.cluster);
    change(copy);
    this.#store(copy);
  }

  lose(pod: string): void {
    const found = this.pods.get(pod);
    if (found !== undefined) this.#delete(found);
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://server');
    const say = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...(status === 429 && { 'retry-after': '0' }) });
      response.end(JSON.stringify(body));
    };
    const status = (code: number, message: string): void => say(code, { kind: 'Status', code, message });
    if (pathname === `/api/v1/namespaces/${this.namespace}/pods`) {
      const wanted = (searchParams.get('labelSelector') ?? '').split(',').map((each) => each.split('='));
      const items = [...this.pods.values()].filter(({ metadata }) =>
        wanted.every(([name = '', value]) => metadata.labels[name] === value),
      );
      return say(200, { metadata: { resourceVersion: String(this.#version) }, items });
    }
    if (pathname !== `/apis/ray.io/v1/namespaces/${this.namespace}/rayclusters/${this.name}`)
      return status(404, `${pathname} not found`);
    if (request.method === 'GET') return say(200, this.cluster);
    const steps = JSON.parse(await text(request)) as readonly PatchStep[];
    const { refuse, loseAnswer } = this.faults;
    if (refuse !== undefined) return status(refuse, 'as the test wants it');
    try {
      this.#store(jsonPatched(this.cluster, steps));
    } catch (error) {
      return status(422, (error as Error).message);
    }
    if (loseAnswer) {
      this.faults = {};
      return void response.destroy();
    }
    say(200, this.cluster);
  }

  #store(cluster: Cluster): void {
    this.#version += 1;
    cluster.metadata.resourceVersion = String(this.#version);
    this.cluster = cluster;
    this.#reconcileSoon();
  }

  #reconcileSoon(): void {
    this.#later(() => {
      if (this.faults.operatorDown) return this.#reconcileSoon();
      let failure: string | undefined;
      try {
        reconcile({
          cluster: this.cluster,
          pods: [...this.pods.values()],
          make: (group, labels) => this.#make(group, labels),
          delete: (pod) => this.#delete(pod),
        });
      } catch (error) {
        failure = (error as Error).message;
        this.#reconcileSoon();
      }
      const isOfPods = failure?.startsWith('pods ') === true;
      // Its status is written with each of them, whatever else has changed.
      this.#version += 1;
      this.cluster.metadata.resourceVersion = String(this.#version);
      this.cluster.status.conditions = isOfPods
        ? [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreateWorkerPod', message: failure ?? '' }]
        : [];
    });
  }

  #make({ groupName }: Group, labels: Readonly<Record<string, string>>): void {
    const name = `${this.name}-${groupName}-worker-${word()}`;
    const { notLetIn, noRoom } = this.faults;
    if (notLetIn !== undefined) throw new Error(`pods "${name}" is forbidden: ${notLetIn}`);
    const own = { 'ray.io/cluster': this.name, 'ray.io/node-type': 'worker', 'ray.io/group': groupName };
    const now = new Date().toISOString();
    const pod: Pod = {
      metadata: { name, labels: { ...own, ...labels }, creationTimestamp: `${now.slice(0, 19)}Z` },
      status: { phase: 'Pending', conditions: [] },
    };
    this.pods.set(name, pod);
    if (noRoom !== undefined)
      pod.status.conditions.push({
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message: noRoom,
        lastTransitionTime: now,
      });
    else
      this.#later(() => {
        pod.status.phase = 'Running';
        pod.status.podIP = `10.1.0.${this.#addresses++}`;
      });
  }

  #delete(pod: Pod): void {
    if (pod.metadata.deletionTimestamp !== undefined) return;
    pod.metadata.deletionTimestamp = new Date().toISOString();
    this.#later(() => {
      this.pods.delete(pod.metadata.name);
      this.#reconcileSoon();
    });
  }

  #later(work: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, moment);
    this.#timers.add(timer);
  }
}
