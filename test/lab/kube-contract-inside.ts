/**
 * Runs on the laptop of a lab: the contract of providers, against KubeRay's real operator. Pods are real and run no Ray: `IMAGE` has bash
 * alone, and a `ray` that is happy with everything. `STRANGER` is a kubeconfig of someone who may do nothing.
 */
import { KubeClient } from '../../src/base/kube/client.ts';
import { openKubeAccess } from '../../src/base/kube/config.ts';
import { kubeErrors } from '../../src/base/kube/errors.ts';
import { deleteObject, jsonPatch } from '../../src/base/kube/objects.ts';
import { wallClock } from '../../src/base/time/wall-clock.ts';
import { KubeRayProvider } from '../../src/providers/kuberay/provider.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { providerContract } from '../contract/provider-contract.ts';
import { never } from '../contract/waiting.ts';

const namespace = 'default';
const image = process.env['IMAGE'] ?? '';
const access = openKubeAccess({ env: process.env, namespace });
const client = new KubeClient(access, wallClock);
const stranger = new KubeClient(openKubeAccess({ env: { KUBECONFIG: process.env['STRANGER'] }, namespace }), wallClock);
const clusters = `/apis/ray.io/v1/namespaces/${namespace}/rayclusters`;
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
let made = 0;

const pod = {
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        name: 'ray',
        image,
        env: [{ name: 'PATH', value: '/happy:/usr/bin:/bin' }],
        resources: { requests: { cpu: '1m', memory: '8Mi' } },
        volumeMounts: [{ name: 'happy', mountPath: '/happy' }],
      },
    ],
    volumes: [{ name: 'happy', configMap: { name: 'happy', defaultMode: 0o755 } }],
  },
};
const group = (groupName: string, numOfHosts: number) => ({
  groupName,
  numOfHosts,
  replicas: 0,
  minReplicas: 0,
  maxReplicas: 20,
  rayStartParams: {},
  template: pod,
});

const create = (path: string, body: unknown): Promise<unknown> =>
  client.json({ method: 'POST', path, body, call: 'make what the test needs', signal: never });

const happy = create(configMaps, {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'happy' },
  data: { ray: '#!/bin/bash\n[ "$1" != start ] || exec sleep infinity\n' },
});

/** Its patches are carried out, and nobody hears of the first. */
class LosingClient extends KubeClient {
  #isLost = false;

  override async json(call: Parameters<KubeClient['json']>[0]): Promise<unknown> {
    const answer = await super.json(call);
    if (call.method !== 'PATCH' || this.#isLost) return answer;
    this.#isLost = true;
    throw kubeErrors.Unreachable({ server: access.server, detail: 'the test lost the answer' });
  }
}

providerContract(
  "kuberay, with the operator's own pods",
  async (t) => {
    await happy;
    const name = `contract-${made++}`;
    await create(clusters, {
      apiVersion: 'ray.io/v1',
      kind: 'RayCluster',
      metadata: { name },
      spec: {
        enableInTreeAutoscaling: true,
        rayVersion: '2.60.0',
        headGroupSpec: { rayStartParams: {}, template: pod },
        workerGroupSpecs: [group('worker', 1), group('slices', 2)],
      },
    });
    const path = `${clusters}/${name}`;
    t.after(() => deleteObject(client, { path, call: 'clear away', signal: never }));
    const provider = (as: KubeClient = client): KubeRayProvider =>
      new KubeRayProvider({ client: as, namespace, name, clock: wallClock });
    /** With these limits from the first launch on. */
    const limited = (replicas: (hosts: number) => number): Provider => {
      const plain = provider();
      let turned: Promise<unknown> | undefined;
      const turn = (): Promise<unknown> =>
        jsonPatch(
          client,
          { path, call: 'limit the groups', signal: never },
          [1, 2].map((hosts, at) => {
            return { op: 'replace', path: `/spec/workerGroupSpecs/${at}/maxReplicas`, value: replicas(hosts) } as const;
          }),
        );
      return {
        slices: true,
        list: (signal) => plain.list(signal),
        terminate: (ids, signal) => plain.terminate(ids, signal),
        tag: (id, tags, signal) => plain.tag(id, tags, signal),
        launch: async (request, signal) => {
          await (turned ??= turn());
          return await plain.launch(request, signal);
        },
      };
    };
    return {
      type: 'worker',
      provider: () => provider(),
      refusing: (kind) => (kind === 'denied' ? provider(stranger) : limited(() => 0)),
      limited: (count) => limited((hosts) => Math.floor(count / hosts)),
      losingAnswer: () => provider(new LosingClient(access, wallClock)),
    };
  },
  ['no-capacity', 'denied'],
  { addresses: ['inside'], slices: { type: 'slices', hosts: 2 } },
);
