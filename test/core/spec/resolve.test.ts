import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aws, codesOf, open, specOf, typeOf } from './cluster-text.ts';

const types = `
available_node_types:
  head: {resources: {CPU: 2}, node_config: {InstanceType: m5.large, ImageId: ami-1}}
  worker: {resources: {CPU: 8, GPU: 0.5}, min_workers: 1, node_config: {InstanceType: m5.2xlarge, ImageId: ami-1}}
head_node_type: head
max_workers: 4
`;

describe('a resolved file', () => {
  test('has every default of its provider', () => {
    const spec = specOf('provider: {type: aws, region: us-west-2}');
    assert.equal(spec.name, 'default');
    assert.equal(spec.maxWorkers, 2);
    assert.equal(spec.idleTimeout, 300_000);
    assert.equal(spec.upscalingSpeed, 1);
    assert.equal(spec.headType, 'ray.head.default');
    assert.deepEqual(
      spec.nodeTypes.map((type) => type.name),
      ['ray.head.default', 'ray.worker.default'],
    );
    assert.equal(spec.auth.user, 'ubuntu');
    assert.match(spec.head.start.join('\n'), /ray start --head/);
  });

  test('gives the head no workers of its type and other types the limit of the cluster', () => {
    const spec = specOf(aws(types));
    assert.equal(typeOf(spec, 'head').maxWorkers, 0);
    assert.equal(typeOf(spec, 'worker').maxWorkers, 4);
    assert.equal(typeOf(spec, 'worker').minWorkers, 1);
  });

  test('keeps fractions of resources and says that Ray refuses them', () => {
    assert.equal(typeOf(specOf(aws(types)), 'worker').resources.GPU, 0.5);
    assert.deepEqual(codesOf(aws(types)), ['6:37 RAY_REFUSES']);
  });

  test('knows that a type without resources must be asked for them', () => {
    const spec = specOf(aws('available_node_types: {ray.head.default: {resources: {}, node_config: {ImageId: a}}}'));
    assert.equal(spec.nodeTypes[0]?.resourcesKnown, false);
  });

  test('passes unknown provider keys through, and keeps its own apart', () => {
    const spec = specOf(
      'provider: {type: external, module: a.B, gcsfuse_bucket: data, manta: {}}\ncluster_name: x\navailable_node_types: {h: {resources: {}, node_config: {}}}\nhead_node_type: h',
    );
    const { manta, ...provider } = spec.provider;
    assert.deepEqual(provider, {
      type: 'external',
      kind: 'cloud',
      config: { module: 'a.B', gcsfuse_bucket: 'data' },
    });
    assert.equal(manta.engine, 'embedded');
  });

  test('has the types in the order of the file', () => {
    assert.deepEqual(
      specOf(aws(types)).nodeTypes.map((type) => type.name),
      ['head', 'worker'],
    );
  });

  test('has them so even where their names look like numbers', () => {
    const text = aws(`available_node_types:
  spot: {resources: {CPU: 1}, node_config: {ImageId: ami-1}}
  16: {resources: {CPU: 16}, node_config: {ImageId: ami-1}}
  4: {resources: {CPU: 4}, node_config: {ImageId: ami-1}}
head_node_type: spot
file_mounts: {/b: b, 2: c, 1: d}
`);
    const spec = specOf(text);
    assert.deepEqual(
      spec.nodeTypes.map((type) => type.name),
      ['spot', '16', '4'],
    );
    assert.deepEqual(
      spec.files.mounts.map((mount) => mount.remote),
      ['/b', '2', '1'],
    );
    const [problem] = open(text.replace('head_node_type: spot', 'head_node_type: other')).problems;
    assert.match(problem?.message ?? '', /other/);
    assert.match(problem?.hint ?? '', /spot, 16, 4/);
  });

  test('tells changed launch configurations apart, whatever the order of their keys', () => {
    const hash = (config: string): string | undefined =>
      specOf(aws(`available_node_types: {a: {resources: {}, node_config: ${config}}}\nhead_node_type: a`)).nodeTypes[0]
        ?.launchHash;
    assert.equal(hash('{KeyName: a, SecurityGroupIds: [b]}'), hash('{SecurityGroupIds: [b], KeyName: a}'));
    assert.notEqual(hash('{KeyName: a, SecurityGroupIds: [b]}'), hash('{KeyName: a, SecurityGroupIds: [c]}'));
  });
});

describe('commands and containers', () => {
  const text = aws(`${types}
setup_commands: [a]
head_setup_commands: [b]
worker_setup_commands: [c]
docker: {image: img, container_name: ray, run_options: [-x], head_image: himg, worker_run_options: [-w], use_podman: true}
`);

  test('the head and the workers run the common set-up, then their own', () => {
    const spec = specOf(text);
    assert.deepEqual(spec.head.setup, ['a', 'b']);
    assert.deepEqual(typeOf(spec, 'worker').worker.setup, ['a', 'c']);
  });

  test('the head and the workers each have their image and options', () => {
    const spec = specOf(text);
    assert.deepEqual(
      [spec.head.container?.image, spec.head.container?.runOptions, spec.head.container?.engine],
      ['himg', ['-x'], 'podman'],
    );
    assert.deepEqual(typeOf(spec, 'worker').worker.container?.runOptions, ['-x', '-w']);
  });

  test("a type's own set-up stands in place of all of the cluster's, and the file is told so", () => {
    const own = text.replace(
      'min_workers: 1,',
      'min_workers: 1, worker_setup_commands: [own], docker: {worker_image: timg},',
    );
    const { worker } = typeOf(specOf(own), 'worker');
    assert.deepEqual(worker.setup, ['own']);
    assert.equal(worker.container?.image, 'timg');
    assert.ok(codesOf(own).some((code) => code.endsWith('TYPE_SETUP_REPLACES')));
  });

  test('an image without a container name is refused', () => {
    assert.deepEqual(codesOf(aws('docker: {image: x}')), ['3:1 DOCKER_INCOMPLETE']);
  });
});

describe('a local cluster', () => {
  const local = (more: string): string =>
    `cluster_name: l\nprovider: {type: local, head_ip: a, worker_ips: [b, c, d]}\nauth: {ssh_user: me}\n${more}`;

  test('makes every listed host a worker', () => {
    const spec = specOf(local(''));
    assert.equal(spec.maxWorkers, 3);
    assert.deepEqual(
      spec.nodeTypes.map(({ name, minWorkers, maxWorkers }) => [name, minWorkers, maxWorkers]),
      [['local.cluster.node', 3, 3]],
    );
  });

  test('takes fewer when max_workers says so, with a warning', () => {
    assert.equal(typeOf(specOf(local('max_workers: 2')), 'local.cluster.node').minWorkers, 2);
    assert.deepEqual(codesOf(local('max_workers: 2')), ['4:1 LOCAL_LIMIT']);
  });

  test('needs its hosts, and has no use for node types', () => {
    assert.deepEqual(codesOf('provider: {type: local}\navailable_node_types: {x: {resources: {}, node_config: {}}}'), [
      '1:11 LOCAL_HOSTS',
      '2:1 LOCAL_NODE_TYPES',
    ]);
  });
});

describe('offers', () => {
  const offers = (provider: string, config: string, more = ''): unknown =>
    specOf(
      `cluster_name: o\nprovider: ${provider}\navailable_node_types: {a: {resources: {}, node_config: ${config}}}\nhead_node_type: a\n${more}`,
    ).nodeTypes[0]?.offers;

  test('come from the comma-separated zones of the provider, in order', () => {
    assert.deepEqual(offers('{type: aws, region: us-west-2, availability_zone: "us-west-2b, us-west-2a"}', '{}'), [
      { zone: 'us-west-2b', market: 'on-demand' },
      { zone: 'us-west-2a', market: 'on-demand' },
    ]);
  });

  test('are on the spot market where the launch configuration says so, in the words of each cloud', () => {
    const markets = (provider: string, config: string): unknown =>
      (offers(provider, config) as { market: string }[]).map((offer) => offer.market);
    assert.deepEqual(markets('{type: aws, region: r}', '{InstanceMarketOptions: {MarketType: spot}}'), ['spot']);
    assert.deepEqual(
      markets('{type: gcp, region: r}', '{scheduling: [{preemptible: true}, {onHostMaintenance: TERMINATE}]}'),
      ['spot'],
    );
    assert.deepEqual(markets('{type: gcp, region: r}', '{scheduling: {preemptible: true}}'), ['spot']);
    assert.deepEqual(markets('{type: gcp, region: r}', '{schedulingConfig: {preemptible: true}}'), ['spot']);
    assert.deepEqual(markets('{type: azure, location: r}', '{azure_arm_parameters: {priority: Spot}}'), ['spot']);
    assert.deepEqual(markets('{type: gcp, region: r}', '{scheduling: [{preemptible: false}]}'), ['on-demand']);
  });

  test("take prices, markets and zones from Manta's own keys", () => {
    const provider =
      '{type: aws, region: r, manta: {node_types: {a: {price: 2, spot_price: 0.5, market: [spot, on-demand], zones: [x, y]}}}}';
    assert.deepEqual(offers(provider, '{}'), [
      { zone: 'x', market: 'spot', pricePerHour: 0.5 },
      { zone: 'y', market: 'spot', pricePerHour: 0.5 },
      { zone: 'x', market: 'on-demand', pricePerHour: 2 },
      { zone: 'y', market: 'on-demand', pricePerHour: 2 },
    ]);
  });

  test('of a TPU slice count once in the file, and by their hosts in the spec', () => {
    const spec = specOf(`cluster_name: o
max_workers: 10
provider: {type: gcp, region: r, availability_zone: z, project_id: p}
available_node_types:
  head: {resources: {CPU: 1}, node_config: {machineType: n1-standard-2}}
  slice: {resources: {TPU: 4}, min_workers: 1, max_workers: 2, node_config: {acceleratorType: v4-64}}
  cpu: {resources: {CPU: 8}, node_config: {machineType: n1-standard-8}}
head_node_type: head
`);
    const { minWorkers, maxWorkers, hostsPerSlice } = typeOf(spec, 'slice');
    assert.deepEqual([minWorkers, maxWorkers, hostsPerSlice], [8, 16, 8]);
    assert.equal(typeOf(spec, 'cpu').maxWorkers, 10);
    assert.equal(spec.maxWorkers, 26);
  });

  test('of a TPU slice are for all of its hosts', () => {
    const hosts = (accelerator: string): number | undefined =>
      specOf(
        `cluster_name: o\nprovider: {type: gcp, region: r, project_id: p}\navailable_node_types: {a: {resources: {}, node_config: {acceleratorType: ${accelerator}}}}\nhead_node_type: a`,
      ).nodeTypes[0]?.hostsPerSlice;
    assert.deepEqual(
      ['v4-8', 'v4-64', 'v3-32', 'v5litepod-4', 'v5litepod-16', 'v6e-256', 'v5p-2048', 'n1-standard-4'].map(hosts),
      [1, 8, 4, 1, 4, 64, 256, 1],
    );
  });
});

describe('what a file cannot say', () => {
  test('all problems come at once, in the order of the file', () => {
    const text = `cluster_name: 12
max_wokers: 2
provider:
  type: awss
setup_commands:
  - echo hi: there
  - 5
available_node_types:
  a:
    min_workers: -1
    docker: {image: x}
idle_timeout_minutes: '5'
`;
    assert.deepEqual(codesOf(text), [
      '1:15 WRONG_TYPE',
      '2:1 UNKNOWN_KEY',
      '4:9 PROVIDER_UNKNOWN',
      '6:5 COMMAND_IS_MAPPING',
      '7:5 WRONG_TYPE',
      '10:18 OUT_OF_RANGE',
      '11:14 UNKNOWN_KEY',
      '12:23 WRONG_TYPE',
    ]);
  });

  test('a wrong key names the nearest right one, or the section that has it', () => {
    const hint = (text: string): string | undefined => open(text).problems[0]?.hint;
    assert.match(hint(aws('max_wokers: 2')) ?? '', /'max_workers'/);
    assert.match(hint(aws('ssh_user: me')) ?? '', /belongs under 'auth'/);
  });

  test('limits that contradict each other are named with their numbers', () => {
    assert.match(
      open(aws(types.replace('min_workers: 1', 'min_workers: 5')))
        .problems.map((problem) => problem.message)
        .join(),
      /add up to 5 \(worker 5\), above max_workers 4/,
    );
    const cut = aws(types.replace('min_workers: 1', 'min_workers: 3, max_workers: 2'));
    assert.equal(typeOf(specOf(cut), 'worker').minWorkers, 2);
    assert.ok(codesOf(cut).some((code) => code.endsWith('MIN_ABOVE_MAX')));
  });

  test('an unknown provider does not hide what else is wrong', () => {
    const text = `cluster_name: x
provider: {type: awss, manta: {node_types: {wroker: {}}}}
head_node_type: heat
max_workers: 2
available_node_types:
  head: {resources: {}, node_config: {}, max_workers: 0}
  worker: {resources: {}, node_config: {}, min_workers: 3}
`;
    const wrong = ['2:18 PROVIDER_UNKNOWN', '2:45 UNKNOWN_TYPE', '3:17 UNKNOWN_HEAD_TYPE', '4:1 MIN_SUM_ABOVE_MAX'];
    assert.deepEqual(codesOf(text), wrong);
    assert.deepEqual(codesOf(text.replace('awss', 'yarn')).slice(1), wrong.slice(1));
    assert.deepEqual(codesOf('cluster_name: x\nprovider: {type: awss}\nhead_node_type: heat\n'), [
      '2:18 PROVIDER_UNKNOWN',
    ]);
  });

  test('an unknown head type names the nearest one', () => {
    const wrong = open(aws(types.replace('head_node_type: head', 'head_node_type: haed'))).problems.at(-1);
    assert.equal(wrong?.code, 'MANTA_SPEC_UNKNOWN_HEAD_TYPE');
    assert.match(wrong?.hint ?? '', /'head'/);
  });

  test('node types without a head are refused', () => {
    assert.deepEqual(codesOf(aws('available_node_types: {a: {resources: {}, node_config: {ImageId: a}}}')), [
      '3:1 HEAD_TYPE_MISSING',
    ]);
  });

  test('providers that are gone are refused with what to do instead', () => {
    for (const type of ['kubernetes', 'staroid', 'gen2', 'spark']) {
      const [problem] = open(`cluster_name: x\nprovider: {type: ${type}}`).problems;
      assert.equal(problem?.code, 'MANTA_SPEC_PROVIDER_REMOVED', type);
      assert.deepEqual(problem.at, { line: 2, column: 18 });
      assert.ok((problem.hint ?? '').length > 20);
    }
  });

  test('names that every object has are names like any other', () => {
    assert.deepEqual(codesOf('cluster_name: x\nprovider: {type: constructor}'), ['2:18 PROVIDER_UNKNOWN']);
    assert.deepEqual(
      codesOf(aws('head_node_type: toString\navailable_node_types: {a: {resources: {}, node_config: {ImageId: a}}}')),
      ['3:17 UNKNOWN_HEAD_TYPE'],
    );
    assert.deepEqual(codesOf('a: ${env:constructor}\n'), ['1:1 UNKNOWN_KEY', '1:1 MISSING_KEY', '1:4 ENV_UNSET']);
  });

  test('an empty file, a list and a text are no cluster files', () => {
    for (const text of ['', '[]', 'hello', '# nothing'])
      assert.deepEqual(
        codesOf(text).map((code) => code.split(' ')[1]),
        ['NOT_A_MAPPING'],
        text,
      );
  });

  test('a key that stands twice is told where the other one is', () => {
    const text = aws('file_mounts:\n  /a: x\n  /a: y\nmax_workers: 1\nmax_workers: 2\n');
    assert.deepEqual(codesOf(text), ['4:3 DUPLICATE_KEY', '6:1 DUPLICATE_KEY']);
    assert.match(open(text).problems[1]?.message ?? '', /again on line 7/);
    assert.equal(specOf(text).maxWorkers, 2);
  });

  test('a key without a value is taken as empty, with a warning', () => {
    assert.deepEqual(codesOf(aws('setup_commands:\nfile_mounts:')), ['3:1 EMPTY_VALUE', '4:1 EMPTY_VALUE']);
    assert.deepEqual(specOf(aws('setup_commands:')).head.setup, ["pip install 'boto3>=1.4.8'"]);
  });
});
