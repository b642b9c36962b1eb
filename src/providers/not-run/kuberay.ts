import { type Key, key } from '../../core/spec/keys/key.ts';
import type { ProviderFacts } from '../../core/spec/provider-facts.ts';

export const namespace: Key = key('provider.namespace', 'string', 'Namespace of the pods.', { example: 'ray' });

export const gcsAddress: Key = key('provider.gcs_address', 'string', "Address of the head's GCS.", {
  nullable: true,
  example: '10.0.0.1:6379',
});

/** What the KubeRay operator hands to its autoscaler. */
export const kuberay: ProviderFacts = {
  name: 'kuberay',
  kind: 'elsewhere',
  keys: [namespace, gcsAddress],
  ray: 'as-is',
};
