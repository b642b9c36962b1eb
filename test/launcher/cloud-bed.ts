import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CloudOptions } from '../../lab/cloud/cloud.ts';
import type { Clock } from '../../src/base/time/clock.ts';
import type { CloudRequest } from '../../src/launcher/head/cloud-client.ts';
import type { PreparationRequest, Remain } from '../../src/providers/clouds.ts';
import type { CloudModule } from '../../src/providers/descriptor.ts';
import { labCloud } from '../../src/providers/lab-cloud/descriptor.ts';
import { readConfig } from '../../src/state/load-spec.ts';
import { stateFolder } from '../../src/state/state-folder.ts';
import { standInCloud } from '../providers/lab-cloud/cloud-bed.ts';

const haste = 200;
const fastClock: Clock = {
  now: () => 1e12 + haste * performance.now(),
  sleep: (duration, signal) => sleep(duration / haste, undefined, signal && { signal }),
};

/** Zones of the stand-in cloud. */
export const [zoneA, zoneB] = ['lab-1a', 'lab-1b'] as const;

/** A cluster of a stand-in cloud as one laptop sees it, and what it told. */
export async function cloudBed(t: TestContext, options: Omit<CloudOptions, 'hypervisor'> = {}) {
  const served = await standInCloud(t, options);
  const folderFor = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'manta-cloud-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  };
  const home = folderFor();
  const env = { LAB_CLOUD_TOKEN: served.token };
  const textOf = (provider = '', types = '{head: {node_config: {machine_type: small}}}', more = ''): string => `
cluster_name: bed
provider: {type: lab_cloud, endpoint: "${served.endpoint}"${provider}}
head_node_type: head
available_node_types: ${types}
${more}`;
  const told: string[] = [];
  const requestFor = (text = textOf(), at = home): CloudRequest => ({
    folder: stateFolder(at, 'bed'),
    file: readConfig({ path: 'bed.yaml', text, env: {} }),
    env,
    clock: fastClock,
    events: { emit: ({ code }) => void told.push(code) },
  });
  const fileOf = (text = textOf()): string => {
    const path = join(folderFor(), 'bed.yaml');
    writeFileSync(path, text);
    return path;
  };
  const { cloud, admin } = served;
  const existing = (): readonly string[] => cloud.truth().flatMap(({ exists, id }) => (exists ? [id] : []));
  return { cloud, admin, home, env, told, textOf, requestFor, fileOf, existing, newHome: folderFor };
}

/** What a cloud with preparation was asked, and what it has beside instances. */
export class PreparedWorld {
  /** Ids of clusters that were prepared, in order. */
  readonly prepared: string[] = [];
  readonly planned: PreparationRequest[] = [];
  /** What `prepared()` gave to those who opened the cloud. */
  readonly seen: unknown[] = [];
  released = 0;
  remains: readonly Remain[] = [];
}

/** Puts preparation, remains and policies before the lab cloud, for as long as the test runs. */
export function withPreparation(t: TestContext, more: Partial<CloudModule> = {}): PreparedWorld {
  const world = new PreparedWorld();
  const load = labCloud.load;
  t.mock.method(labCloud, 'load', async (): Promise<CloudModule> => {
    const module = await load();
    return {
      ...module,
      openCloud: (client) => {
        const provider = module.openCloud(client);
        world.seen.push(client.prepared?.());
        return Object.assign(provider, {
          release: async () => void world.released++,
          remains: async () => world.remains,
        });
      },
      prepare: async ({ clusterId }) => ({ group: 'g-1', times: world.prepared.push(clusterId) }),
      planPreparation: async (request) => {
        world.planned.push(request);
        return {
          steps: [
            world.prepared.length === 0
              ? { what: 'security group', action: 'create', note: 'opens port 22 to 192.0.2.7' }
              : { what: 'security group', action: 'found', id: 'g-1' },
            { what: 'key pair', action: 'found', id: 'k-1' },
          ],
          warnings: ['the role may not launch spot instances'],
        };
      },
      ...more,
    };
  });
  return world;
}
