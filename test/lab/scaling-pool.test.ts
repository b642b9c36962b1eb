// needs: ray, hosts

import { after, before, describe, it } from 'node:test';
import { ClusterBed, clusterProblem } from './cluster-bed.ts';
import { chosen } from './scaling/chosen.ts';
import { play } from './scaling/play.ts';
import { poolHosts, poolSite } from './scaling/pool-site.ts';
import { RayBed } from './scaling/ray-bed.ts';

describe('own hosts with real Ray', { skip: clusterProblem() ?? false }, () => {
  let user: ClusterBed | undefined;
  let bed: RayBed | undefined;
  before(async () => {
    user = await ClusterBed.open({ hosts: poolHosts, ray: true, cron: true });
    bed = await RayBed.open(user, poolSite(user.lab.hosts));
  });
  after(async () => {
    bed?.close();
    await user?.close();
  });

  for (const scenario of chosen('pool')) it(scenario.name, () => play(scenario, bed!));

  it('are all given back when the cluster goes down', async () => await bed!.down());
});
