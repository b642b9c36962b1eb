// needs: ray-client

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { rayNodeName, rayStatuses, rayTags } from '../../src/core/ray-tags.ts';
import type { PlainMap } from '../../src/core/spec/cluster.ts';
import { prepareAsRay } from '../../src/core/spec/ray/prepare.ts';
import { headLaunchHash, headRuntimeHashes, workerRuntimeHashes } from '../../src/providers/ray-hashes.ts';
import { providers } from '../../src/providers/table.ts';
import { corpus, noCorpus, open } from '../core/spec/cluster-text.ts';
import { rayPython, runPython } from '../jobs/ray-python.ts';

const ray = rayPython();
const skip = 'missing' in ray ? ray.missing : false;
const python = 'python' in ray ? ray.python : '';

/** Hashes of many files as Ray itself computes them: launch of the head, runtime of head (today and formerly), of workers. */
const oracle = `
import json, sys, os, hashlib, copy, yaml, tempfile
from ray.autoscaler._private.util import hash_launch_conf, hash_runtime_conf, prepare_config, _hash_cache
for path in json.load(open(sys.argv[1])):
    try:
        config = prepare_config(yaml.safe_load(open(path).read()))
        head = copy.deepcopy(config.get("head_node", {}))
        head.update(config["available_node_types"][config["head_node_type"]].get("node_config", {}))
        try: launch = hash_launch_conf(head, config["auth"])
        except OSError: launch = None
        def runtime(synced, extra):
            _hash_cache.clear()
            return hash_runtime_conf(config["file_mounts"], synced, extra)
        key = os.path.join(tempfile.gettempdir(), "ray-config-" + hashlib.sha256(json.dumps([config], sort_keys=True).encode()).hexdigest())
        cached = json.loads(json.dumps(config))
        cached["provider"]["_config_cache_path"] = key
        try: rest = [runtime(None, cached), runtime(None, config), runtime(config["cluster_synced_files"], [config["worker_setup_commands"], config["worker_start_ray_commands"]])]
        except OSError: rest = None
        print(json.dumps([path, launch, rest]))
    except BaseException as e:
        print(json.dumps([path, "failed", type(e).__name__ + str(e)[:100]]))
`;

type Row = readonly [string, string | null, readonly (readonly [string, string])[] | string | null];

const preparedOf = (text: string): PlainMap | undefined => {
  const { source } = open(text);
  const prepared = source && prepareAsRay(source, providers);
  return prepared && 'config' in prepared ? prepared.config : undefined;
};

async function compare(files: ReadonlyMap<string, string>, folder: string): Promise<number> {
  const paths = [...files].map(([name, text]) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  });
  writeFileSync(join(folder, 'list.json'), JSON.stringify(paths));
  const rows = runPython(python, oracle, [join(folder, 'list.json')])
    .split('\n')
    .flatMap((line) => (line.startsWith('[') ? [JSON.parse(line) as Row] : []));
  assert.equal(rows.length, files.size);
  let same = 0;
  for (const [path, launch, rest] of rows) {
    const name = path.slice(folder.length + 1);
    const config = preparedOf(files.get(name) ?? '');
    if (launch === 'failed' || config === undefined) continue;
    if (launch !== null) assert.equal(headLaunchHash(config), launch, name);
    if (rest === null) continue;
    const ours = [...(await headRuntimeHashes(config)), await workerRuntimeHashes(config)];
    assert.deepEqual(
      ours.map(({ runtime, contents }) => [runtime, contents]),
      rest,
      name,
    );
    same++;
  }
  return same;
}

describe("Ray's hashes", { skip }, () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'manta-hashes-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('cover names and bytes of mounts in the order in which Ray walks them', async () => {
    const tree = join(folder, 'tree');
    for (const path of ['a/B', 'a-b', 'a/é', 'empty', 'Z']) mkdirSync(join(tree, path), { recursive: true });
    for (const [path, text] of [
      ['a/B/two', 'x'.repeat(3_000_000)],
      ['a/one', ''],
      ['a-b/\u{1F600}', 'smile'],
      ['a-b/\uFFFD', 'later'],
      ['top', 'bytes\0\r\n'],
      ['Z/z', 'last'],
    ] as const)
      writeFileSync(join(tree, path), text);
    symlinkSync('top', join(tree, 'link'));
    symlinkSync('a', join(tree, 'linked-folder'));
    writeFileSync(join(folder, 'key'), 'line\r\nend\n');
    const file = (more: string): string => `cluster_name: h
provider: {type: local, head_ip: 10.0.0.1, worker_ips: [10.0.0.2]}
auth: {ssh_user: ubuntu, ssh_private_key: ${folder}/key}
${more}`;
    const files = new Map([
      ['plain.yaml', file('')],
      ['mounts.yaml', file(`file_mounts: {/b: ${tree}, /a: ${tree}/top, /c: ${tree}/a/}\n`)],
      ['slash.yaml', file(`file_mounts: {/b: ${tree}/}\n`)],
      ['synced.yaml', file(`cluster_synced_files: [${tree}/a, ${folder}/nowhere, ${tree}/top]\n`)],
      [
        'floats.yaml',
        file('idle_timeout_minutes: 5.0\nupscaling_speed: 1e-5\nmetadata: {ü: [1, 2.0, null, true, "\\u2028"]}\n'),
      ],
      ['docker.yaml', file('docker: {image: "x", container_name: c, run_options: [--a]}\nsetup_commands: [one]\n')],
    ]);
    assert.equal(await compare(files, folder), files.size);
  });

  test('of real cluster files are those that Ray gives them', async (t) => {
    const found = corpus();
    if (found === undefined) return t.skip(noCorpus);
    // What their mounts lead to on this machine, if anything, is not theirs and may change any moment.
    const mountsNothing = (text: string): boolean => {
      const { file_mounts: mounts, cluster_synced_files: synced } = preparedOf(text) ?? {};
      return Object.keys({ ...(mounts as PlainMap | undefined), ...(synced as object | undefined) }).length === 0;
    };
    // Ray of today no longer ships what these are filled in with.
    const stillThere = found.filter(({ name, ray: verdict }) => verdict === 'ACCEPT' && !/^(aliyun|fake_)/.test(name));
    const accepted = stillThere.filter(({ bytes }) => mountsNothing(bytes.toString()));
    const files = new Map(accepted.map(({ name, bytes }) => [name, bytes.toString()]));
    const same = await compare(files, folder);
    t.diagnostic(`${same} files without mounts`);
    assert.equal(same, files.size);
  });

  test('stand under the tags that Ray uses', () => {
    const script = `
import json, ray.autoscaler.tags as t
print(json.dumps([t.TAG_RAY_NODE_NAME, t.TAG_RAY_NODE_KIND, t.TAG_RAY_USER_NODE_TYPE, t.TAG_RAY_NODE_STATUS, t.TAG_RAY_CLUSTER_NAME, t.TAG_RAY_LAUNCH_CONFIG, t.TAG_RAY_RUNTIME_CONFIG, t.TAG_RAY_FILE_MOUNTS_CONTENTS, t.TAG_RAY_REPLICA_INDEX, t.TAG_RAY_LAUNCH_REQUEST]))
print(json.dumps([t.STATUS_UNINITIALIZED, t.STATUS_WAITING_FOR_SSH, t.STATUS_SYNCING_FILES, t.STATUS_SETTING_UP, t.STATUS_UPDATE_FAILED, t.STATUS_UP_TO_DATE]))`;
    const [tags = '', statuses = ''] = runPython(python, script).split('\n');
    assert.deepEqual(Object.values(rayTags), JSON.parse(tags));
    assert.deepEqual(rayStatuses, JSON.parse(statuses));
    assert.equal(rayNodeName('x', 'head'), 'ray-x-head');
  });
});
