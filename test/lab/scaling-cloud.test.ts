import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type LabCloud, openLabCloud } from '../../lab/cloud/open.ts';
import { ClusterBed, clusterProblem } from './cluster-bed.ts';
import { chosen } from './scaling/chosen.ts';
import { cloudGround } from './scaling/cloud-ground.ts';
import { play } from './scaling/play.ts';
import { RayBed } from './scaling/ray-bed.ts';

describe('a cloud with real Ray', { skip: clusterProblem() ?? false }, () => {
  let user: ClusterBed | undefined;
  let cloud: LabCloud | undefined;
  let bed: RayBed | undefined;
  before(async () => {
    user = await ClusterBed.open({ hosts: 0, ray: true });
    cloud = await openLabCloud(user.lab, { image: { ray: true, cron: true } });
    const { lab } = user;
    bed = await RayBed.open(
      user,
      cloudGround(cloud, () => lab.hosts),
    );
  });
  after(async () => {
    bed?.close();
    await cloud?.close();
    await user?.close();
  });

  for (const scenario of chosen('cloud')) it(scenario.name, () => play(scenario, bed!));

  it('has no instance left when the cluster has gone down', async () => {
    await bed!.down();
    assert.deepEqual(
      (await cloud!.admin.instances()).filter(({ exists }) => exists),
      [],
    );
  });
});
