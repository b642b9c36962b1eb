import { type Key, key } from '../core/spec/keys/key.ts';

/** Keys under `provider` that several providers read. Each says what its default is in words, where it has one. */

const withDefault = (preset: string | undefined): { readonly default?: string } =>
  preset === undefined ? {} : { default: preset };

export const region = (preset?: string): Key =>
  key('provider.region', 'string', 'Region of the instances.', { ...withDefault(preset), example: 'us-west-2' });

export const availabilityZone = (preset?: string): Key =>
  key(
    'provider.availability_zone',
    'string',
    'Zones, comma-separated, in order of preference. Azure: numbers, `auto` or `none`.',
    { ...withDefault(preset), example: 'us-west-2a,us-west-2b' },
  );

export const cacheStoppedNodes: Key = key(
  'provider.cache_stopped_nodes',
  'boolean',
  'Stop idle on-demand workers instead of terminating them, so that they restart faster; you keep paying for their disks.',
  { default: 'false; in Ray true', example: false },
);

export const keyPair: Key = key('provider.key_pair', 'map', 'Name of the key pair to create: key_name.', {
  nullable: true,
  open: true,
  example: { key_name: 'my-key' },
});
