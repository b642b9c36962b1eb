import { key } from '../../core/spec/keys/key.ts';
import type { ProviderFacts } from '../../core/spec/provider-facts.ts';
import { sparkDefaults } from './managed.ts';

type Removed = NonNullable<ProviderFacts['removed']>;

const gone = (name: string, removed: Removed): ProviderFacts => ({ name, kind: 'elsewhere', removed });

const onKubernetes: Removed = {
  what: 'Ray 2.0 replaced `ray up` on Kubernetes with the KubeRay operator',
  instead: "'manta config convert --to kuberay FILE' prints the RayCluster for KubeRay; 'manta kube apply' starts it",
};
const onSpark: Removed = {
  what: 'Ray on Spark starts itself from inside a Spark job',
  instead: 'call ray.util.spark.setup_ray_cluster in the job; there is nothing to launch from here',
};
const ofIbm: Removed = {
  what: 'it belonged to a fork of Ray',
  instead: "use `type: external` with `module:` naming the provider's Python class",
};

const kubernetes: ProviderFacts = {
  ...gone('kubernetes', onKubernetes),
  keys: [
    key(
      'provider.autoscaler_service_account',
      'map',
      'Service account of the autoscaler (removed Kubernetes provider).',
      { open: true },
    ),
    key('provider.autoscaler_role', 'map', 'Role of the autoscaler (removed Kubernetes provider).', { open: true }),
    key('provider.autoscaler_role_binding', 'map', 'Role binding of the autoscaler (removed Kubernetes provider).', {
      open: true,
    }),
  ],
};

/** Provider types that files of earlier years name. */
export const removedProviders: readonly ProviderFacts[] = [
  kubernetes,
  gone('kubernetesOperator', onKubernetes),
  gone('staroid', {
    what: 'the staroid service and its provider ended in 2021',
    instead: 'choose another provider; you can keep commands and file_mounts',
  }),
  { ...gone('spark', onSpark), defaults: sparkDefaults(), ray: 'defaults' },
  gone('ray_on_spark', onSpark),
  gone('gen2', ofIbm),
  gone('ibm_vpc', ofIbm),
  gone('fake_docker', { what: 'it was renamed', instead: 'write `type: fake_multinode_docker`' }),
  gone('yarn', {
    what: 'Ray has no provider for YARN',
    instead: 'start Ray with Skein, or use `type: local` with the hosts',
  }),
];
