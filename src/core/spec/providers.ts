/** Provider types that a cluster file may name. */
export const providerTypes = [
  'aws',
  'gcp',
  'azure',
  'local',
  'process',
  'lab_cloud',
  'external',
  'aliyun',
  'vsphere',
  'kuberay',
  'readonly',
  'fake_multinode',
  'fake_multinode_docker',
] as const;

interface Gone {
  readonly what: string;
  readonly instead: string;
}

const kubernetes: Gone = {
  what: 'Ray dropped `ray up` on Kubernetes in 2.0 for the KubeRay operator',
  instead:
    'describe the cluster as a RayCluster for KubeRay: head_node is its headGroupSpec, each worker type a workerGroupSpec',
};
const spark: Gone = {
  what: 'Ray on Spark starts itself from inside a Spark job',
  instead: 'call ray.util.spark.setup_ray_cluster in the job; there is nothing to launch from here',
};
const ibm: Gone = {
  what: 'it was a provider of a fork of Ray',
  instead: "use `type: external` with `module:` naming the provider's Python class",
};

/** Provider types that files of earlier years name, and what became of them. */
export const goneProviders: Readonly<Record<string, Gone>> = {
  kubernetes,
  kubernetesOperator: kubernetes,
  staroid: {
    what: 'the staroid service and its provider ended in 2021',
    instead: 'choose another provider; commands and file_mounts can stay as they are',
  },
  spark,
  ray_on_spark: spark,
  gen2: ibm,
  ibm_vpc: ibm,
  fake_docker: { what: 'it was renamed', instead: 'write `type: fake_multinode_docker`' },
  yarn: { what: 'Ray has no provider for YARN', instead: 'start Ray with Skein, or use `type: local` with the hosts' },
};

/** Provider types that read `availability_zone` as names of zones. */
export const zoned: ReadonlySet<string> = new Set(['aws', 'gcp', 'lab_cloud']);
