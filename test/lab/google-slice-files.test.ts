// needs: openssl, google-discovery, ray, hosts

/** Ray's own example of a TPU slice, as it was published, from `up` to `down`. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { spread } from './cloud-cluster-bed.ts';
import { corpusFile, corpusProblem, type Replacement } from './cloud-corpus.ts';
import { GoogleClusterBed } from './google-cluster-bed.ts';

const topology = {
  file: 'gcp-tpu__modern__ray__example-tpu-pod-topology__2025-02.yaml',
  replacements: [
    ['sudo apt-get update', 'python3 --version', 'a download'],
    ['sudo apt-get install -y python3-pip python-is-python3', 'python3 --version', 'a download'],
    ["pip install 'ray[default]'", 'ray --version', 'a download'],
    ['pip install google-api-python-client', 'ray --version', 'a download'],
  ] satisfies readonly Replacement[],
};

describe('cluster files of projects with TPU slices', { skip: corpusProblem() ?? false }, () => {
  let all: GoogleClusterBed;
  before(async () => {
    all = await GoogleClusterBed.open({}, { image: { ray: true, cron: true }, retired: true });
  });
  after(() => all?.close());

  it(`${topology.file} comes up, runs on its slice, and leaves nothing`, async (t) => {
    const text = corpusFile(topology.file, topology.replacements, (line) => t.diagnostic(line));
    all.bed.write('topology.yaml', text);
    await all.manta('up', '-y', 'topology.yaml');
    const said = await all.job('tputopology', spread(['{"TPU": 1, "TPU-v4-8-head": 1}']));
    assert.match(said, /^RAN ON h\d+$/m);
    assert.match(await all.manta('down', '-y', 'topology.yaml'), /nothing is left/);
    assert.equal(all.google.world.tpu.slices.size, 0);
    await all.assertNothingLeft('tputopology');
  });
});
