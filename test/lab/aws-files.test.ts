// needs: botocore, ray, hosts

import { after, before, describe, it } from 'node:test';
import { inSoak } from '../soak.ts';
import { AwsClusterBed } from './aws-cluster-bed.ts';
import {
  baseline,
  embeddings,
  full2020,
  launchTemplates,
  minimal,
  networkInterfaces,
  standIns,
  throughTheLab,
} from './aws-corpus.ts';
import { corpusProblem } from './cloud-corpus.ts';

const files = inSoak('clouds')
  ? [minimal, launchTemplates, full2020, networkInterfaces, baseline, embeddings]
  : [minimal, launchTemplates];

describe('cluster files of projects on AWS', { skip: corpusProblem() ?? false }, () => {
  let all: AwsClusterBed;
  before(async () => {
    const image = { ray: true, cron: true, first: standIns(false) };
    all = await AwsClusterBed.open({ hosts: 1 }, { image, retired: true });
  });
  after(() => all?.close());

  for (const each of files)
    it(`${each.file} comes up, runs on a machine of each kind, and leaves nothing`, (t) =>
      throughTheLab(all, each, (line) => t.diagnostic(line)));
});
