import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openCluster } from '../../../src/core/spec/read.ts';
import { checkNodeConfig, launchMembers } from '../../../src/providers/aws/node-config.ts';
import { providers } from '../../../src/providers/table.ts';

const problemsOf = (text: string) =>
  openCluster('cluster.yaml', Buffer.from(text), {}, providers)
    .problems.filter(({ severity }) => severity === 'error')
    .map(({ at, code, message, hint }) => ({ at: `${at.line}:${at.column}`, code, message, hint }));

const head = (config: readonly string[]): string =>
  [
    'cluster_name: c',
    'provider: {type: aws, region: us-west-2}',
    'head_node_type: head',
    'available_node_types:',
    '  head:',
    '    node_config:',
    ...config.map((line) => `      ${line}`),
    '',
  ].join('\n');

test('a member that AWS does not have is shown at its place, with the nearest name', () => {
  assert.deepEqual(
    problemsOf(
      head(['InstanceType: m5.large', 'BlockDeviceMappings:', '- DeviceName: /dev/sda1', '  Ebs: {volumesize: 100}']),
    ),
    [
      {
        at: '10:15',
        code: 'MANTA_SPEC_AWS_UNKNOWN_MEMBER',
        message: "unknown field 'volumesize' of RunInstances",
        hint: "did you mean 'VolumeSize'?",
      },
    ],
  );
});

test('a value of another type, and a member that is missing, are shown at their place', () => {
  const [type, missing, list] = problemsOf(
    head(['BlockDeviceMappings: [{Ebs: {VolumeSize: big}}]', 'Monitoring: {}', 'SecurityGroupIds: sg-1']),
  );
  assert.equal(type?.at, '7:48');
  assert.equal(type?.message, "'BlockDeviceMappings[0].Ebs.VolumeSize' must be a whole number, not 'big'");
  assert.equal(missing?.at, '8:7');
  assert.equal(missing?.message, "'Monitoring' needs the field 'Enabled'");
  assert.match(list?.message ?? '', /'SecurityGroupIds' must be a list, not 'sg-1'/);
});

test('members of files with the keys of earlier years are checked too', () => {
  const text = [
    'cluster_name: c',
    'provider: {type: aws, region: us-west-2}',
    'head_node: {InstanceType: m5.large, ImageID: ami-1}',
    'worker_nodes: {InstanceType: m5.large}',
    '',
  ].join('\n');
  assert.deepEqual(
    problemsOf(text).map(({ at, hint }) => [at, hint]),
    [['3:37', "did you mean 'ImageId'?"]],
  );
});

test("Ray's own members and those that a launch sets are no mistakes", () => {
  assert.deepEqual(checkNodeConfig({ SubnetIds: ['subnet-1'], MinCount: 1, MaxCount: 2, KeyName: null }), []);
  assert.deepEqual(launchMembers({ SubnetIds: ['subnet-1'], MinCount: 1, KeyName: null, EbsOptimized: true }), {
    EbsOptimized: true,
  });
});

test('scalars become what AWS wants where that loses nothing', () => {
  const given = {
    InstanceMarketOptions: { SpotOptions: { MaxPrice: 0.04, ValidUntil: new Date(0) } },
    BlockDeviceMappings: [{ Ebs: { VolumeSize: '100', Encrypted: 'True' } }],
    TagSpecifications: [{ Tags: [{ Key: 7, Value: true }] }],
    Ipv6AddressCount: 2n,
  };
  assert.deepEqual(checkNodeConfig(given), []);
  assert.deepEqual(launchMembers(given), {
    InstanceMarketOptions: { SpotOptions: { MaxPrice: '0.04', ValidUntil: new Date(0) } },
    BlockDeviceMappings: [{ Ebs: { VolumeSize: 100, Encrypted: true } }],
    TagSpecifications: [{ Tags: [{ Key: '7', Value: 'true' }] }],
    Ipv6AddressCount: 2,
  });
  assert.equal(checkNodeConfig({ Ipv6AddressCount: 1.5 }).length, 1);
  assert.equal(checkNodeConfig({ EbsOptimized: 'maybe' }).length, 1);
});

test('names that every object has are no members', () => {
  assert.deepEqual(
    checkNodeConfig({ constructor: 1, toString: 'x' }).map(({ kind }) => kind),
    ['unknown', 'unknown'],
  );
});

test('a time as a number counts seconds, and blanks are no number', () => {
  const spot = (ValidUntil: string | number) =>
    launchMembers({ InstanceMarketOptions: { SpotOptions: { ValidUntil } } })['InstanceMarketOptions'];
  const wanted = { SpotOptions: { ValidUntil: new Date('2027-01-15T08:00:00Z') } };
  assert.deepEqual(spot(1_800_000_000), wanted);
  assert.deepEqual(spot('1800000000'), wanted);
  assert.deepEqual(spot('2027-01-15T08:00:00Z'), wanted);
  const [problem] = checkNodeConfig({ BlockDeviceMappings: [{ Ebs: { VolumeSize: ' ' } }] });
  assert.equal(problem?.kind, 'type');
});
