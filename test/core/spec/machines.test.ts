import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { providers } from '../../../src/providers/table.ts';
import { aws, specOf } from './cluster-text.ts';

describe('the name of a machine gives away its CPUs and GPUs', () => {
  const cases: readonly [string, object, object | undefined][] = [
    ['aws', { InstanceType: 'm5.large' }, { CPU: 2 }],
    ['aws', { InstanceType: 'r5dn.16xlarge' }, { CPU: 64 }],
    ['aws', { InstanceType: 'p3.8xlarge' }, { CPU: 32, GPU: 4 }],
    ['aws', { InstanceType: 'g4dn.xlarge' }, { CPU: 4, GPU: 1 }],
    ['aws', { InstanceType: 't3.small' }, { CPU: 2 }],
    ['aws', { InstanceType: 'auto' }, undefined],
    ['gcp', { machineType: 'n1-standard-16', guestAccelerators: [{ acceleratorCount: 2 }] }, { CPU: 16, GPU: 2 }],
    ['gcp', { machineType: 'custom-6-16384' }, { CPU: 6 }],
    ['gcp', { machineType: 'zones/us-west1-b/machineTypes/a2-highgpu-4g' }, { CPU: 48, GPU: 4 }],
    ['azure', { azure_arm_parameters: { vmSize: 'Standard_D4s_v3' } }, { CPU: 4 }],
    ['azure', { azure_arm_parameters: { vmSize: 'Standard_NC24rs_v3' } }, { CPU: 24, GPU: 4 }],
    ['local', {}, undefined],
  ];
  for (const [provider, launch, expected] of cases) {
    test(`${provider} ${JSON.stringify(launch)}`, () =>
      assert.deepEqual(providers.byName.get(provider)?.likelyResources?.(launch as never), expected));
  }
});

test('what the file says of a machine wins over its name', () => {
  const types = (resources: string): string =>
    aws(
      `available_node_types: {a: {resources: ${resources}, node_config: {InstanceType: m5.2xlarge, ImageId: x}}}\nhead_node_type: a`,
    );
  assert.deepEqual(specOf(types('{}')).nodeTypes[0]?.resources, { CPU: 8 });
  assert.deepEqual(specOf(types('{special: 1}')).nodeTypes[0]?.resources, { CPU: 8, special: 1 });
  assert.deepEqual(specOf(types('{CPU: 0}')).nodeTypes[0]?.resources, { CPU: 0 });
});
