// needs: ray, hosts

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { clusterProblem } from './cluster-bed.ts';
import { chosen } from './scaling/chosen.ts';
import { openCloudBed } from './scaling/cloud-site.ts';
import { play } from './scaling/play.ts';

describe('a cloud with real Ray', { skip: clusterProblem() ?? false }, () => {
  let opened: Awaited<ReturnType<typeof openCloudBed>> | undefined;
  before(async () => {
    opened = await openCloudBed();
  });
  after(() => opened?.close());

  for (const scenario of chosen('cloud')) it(scenario.name, () => play(scenario, opened!.bed));

  it('has no instance left when the cluster has gone down', async () => {
    const { bed, cloud } = opened!;
    await bed.down();
    assert.deepEqual(
      (await cloud.admin.instances()).filter(({ exists }) => exists),
      [],
    );
  });
});
