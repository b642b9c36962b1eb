// needs: openssl, google-discovery, ray, hosts, podman

/** Cluster files of projects with TPU slices, as they were published, from `up` to `down`. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inSoak } from '../soak.ts';
import { spread } from './cloud-cluster-bed.ts';
import { corpusFile, corpusProblem, type Replacement } from './cloud-corpus.ts';
import { GoogleClusterBed } from './google-cluster-bed.ts';
import { levanter, marin, standIns } from './google-corpus.ts';

const topology = {
  file: 'gcp-tpu__modern__ray__example-tpu-pod-topology__2025-02.yaml',
  replacements: [
    ['sudo apt-get update', 'python3 --version', 'a download'],
    ['sudo apt-get install -y python3-pip python-is-python3', 'python3 --version', 'a download'],
    ["pip install 'ray[default]'", 'ray --version', 'a download'],
    ['pip install google-api-python-client', 'ray --version', 'a download'],
  ] satisfies readonly Replacement[],
};

/** On every host of one slice of this type, and whether the variables and files of the file are there. */
const onSlice = (type: string, hosts: number): string => `
import os, ray, socket
ray.init(address="auto", logging_level="error")
@ray.remote(num_cpus=0, resources={"TPU-${type}-head": 1})
def first():
    return os.environ["TPU_NAME"]
name = ray.get(first.remote())
@ray.remote(num_cpus=0, resources={name: 1, "TPU": 4})
def each():
    token = os.path.expanduser("~/.cache/huggingface/token")
    return (int(os.environ["TPU_WORKER_ID"]), socket.gethostname(), open(token).read())
print("HOSTS", sorted(ray.get([each.remote() for _ in range(${hosts})])))
`;

describe('cluster files of projects with TPU slices', { skip: corpusProblem() ?? false }, () => {
  let all: GoogleClusterBed;
  before(async () => {
    const image = { ray: true, cron: true, ...(inSoak('clouds') && { podman: true, first: standIns }) };
    const registry = inSoak('clouds') && { hosts: 1, podman: true };
    all = await GoogleClusterBed.open({ ...registry }, { image, retired: true });
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

  if (!inSoak('clouds')) return;

  it(`${marin.file} comes up, pulls its image with the accounts of its machines, and runs on a whole slice`, async (t) => {
    const { store, images } = all.bed.lab.registry!;
    const image = images.rayUser.slice(images.rayUser.indexOf('/') + 1);
    all.google.world.artifacts.set(marin.image, { store, image });
    const key = '~/.ssh/marin_ray_cluster';
    await all.bed.on(
      all.bed.laptop,
      `mkdir -p ~/.ssh && ssh-keygen -qt ed25519 -N '' -f ${key}.pem && mv ${key}.pem.pub ${key}.pub`,
    );
    all.bed.write(
      'marin.yaml',
      corpusFile(marin.file, marin.replacements, (line) => t.diagnostic(line)),
    );
    await all.manta('up', '-y', 'marin.yaml');
    const said = await all.job('marin-us-central2', onSlice('v4-16', 2));
    assert.match(said, /^HOSTS \[\(0, '[^']+', 'secret-of-HF_TOKEN'\), \(1, '[^']+', 'secret-of-HF_TOKEN'\)\]$/m);
    assert.match(await all.manta('down', '-y', 'marin.yaml'), /nothing is left/);
    assert.equal(all.google.world.tpu.slices.size, 0);
    await all.assertNothingLeft('marin-us-central2');
  });

  it(`${levanter.file} comes up, and runs on a whole slice of its zone`, async (t) => {
    all.bed.write(
      'levanter.yaml',
      corpusFile(levanter.file, levanter.replacements(all), (line) => t.diagnostic(line)),
    );
    await all.manta('up', '-y', 'levanter.yaml');
    const said = await all.job('levanter-cluster', onSlice('v5litepod-16', 4));
    assert.match(said, /^HOSTS \[\(0, .*\(1, .*\(2, .*\(3, /m);
    assert.match(await all.manta('down', '-y', 'levanter.yaml'), /nothing is left/);
    assert.equal(all.google.world.tpu.slices.size, 0);
    await all.assertNothingLeft('levanter-cluster');
  });
});
