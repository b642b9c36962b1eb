import { dirname, join } from 'node:path';
import { markOf, markVariable } from '../../base/process.ts';
import { jobStartTimeout, jobStopWait } from '../../bringup/ray/settings.ts';
import type { Resources } from '../../core/resources.ts';
import type { ProcessRecord } from '../../providers/process/record.ts';
import type { RayletPlace } from '../../state/raylet-place.ts';

export interface RayletOrder {
  readonly place: RayletPlace;
  readonly record: ProcessRecord;
  /** A Python that has Ray. */
  readonly python: string;
  readonly tokenFile: string;
  /** Bytes of the object store, where the node type does not say. */
  readonly objectStore: number;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Ray's command line, by its function: the `ray` of an environment that was moved does not start. The hook that Ray has for
 * starts sets what no flag does. Nodes that start at the same moment in one folder of Ray's would choose the same names for
 * their sockets, so each is given its own. A server for Ray Client, which drivers on the same machine do not need, would end
 * the head with it when it fails.
 */
const program = `
import os, sys
sockets = sys.argv.pop(1)
def set_params(params, head):
    del os.environ['RAY_START_HOOK']
    params.plasma_store_socket_name = sockets + '.p'
    params.raylet_socket_name = sockets + '.r'
    params.ray_client_server_port = None
os.environ['RAY_START_HOOK'] = '__main__.set_params'
from ray.scripts.scripts import main
main()
`;

/** What would lead Ray's processes to another cluster. */
const elsewhere = ['RAY_ADDRESS', 'RAY_API_SERVER_ADDRESS', 'RAY_AUTH_TOKEN', 'RAY_NAMESPACE', 'RAY_JOB_HEADERS'];

const ofRaysOwn = ['CPU', 'GPU', 'memory', 'object_store_memory'];

/** The words that start a node and stay with it. Everything listens on loopback, on ports that are free. */
export function rayletCommand(order: RayletOrder): readonly [string, ...string[]] {
  const { place, record, python } = order;
  const { resources } = record;
  return [
    python,
    '-c',
    program,
    join(place.temp, record.id.replace(/^i-/, '')),
    'start',
    '--block',
    ...(record.kind === 'head' ? headWords(place) : [`--address=127.0.0.1:${place.gcsPort}`]),
    '--node-ip-address=127.0.0.1',
    '--dashboard-agent-listen-port=0',
    '--min-worker-port=0',
    '--max-worker-port=0',
    '--disable-usage-stats',
    `--num-cpus=${resources['CPU'] ?? 0}`,
    `--num-gpus=${resources['GPU'] ?? 0}`,
    ...(resources['memory'] === undefined ? [] : [`--memory=${Math.floor(resources['memory'])}`]),
    `--object-store-memory=${Math.floor(resources['object_store_memory'] ?? order.objectStore)}`,
    `--resources=${JSON.stringify(customOf(resources))}`,
  ];
}

const headWords = ({ temp, gcsPort, dashboardPort }: RayletPlace): string[] => [
  '--head',
  // Manta is the autoscaler.
  '--no-monitor',
  `--port=${gcsPort}`,
  '--dashboard-host=127.0.0.1',
  `--dashboard-port=${dashboardPort}`,
  `--temp-dir=${temp}`,
];

const customOf = (resources: Resources): Resources =>
  Object.fromEntries(Object.entries(resources).filter(([name]) => !ofRaysOwn.includes(name)));

export function rayletEnvironment({ record, python, tokenFile, env }: RayletOrder): NodeJS.ProcessEnv {
  const { devices, labels, kind } = record;
  const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !elsewhere.includes(name)));
  return {
    ...rest,
    // Jobs find the Python that has Ray.
    PATH: `${dirname(python)}:${env['PATH'] ?? ''}`,
    RAY_AUTH_MODE: 'token',
    RAY_AUTH_TOKEN_PATH: tokenFile,
    RAY_CLOUD_INSTANCE_ID: record.id,
    RAY_NODE_TYPE_NAME: record.type,
    ...(Object.keys(labels).length > 0 && { RAY_OVERRIDE_LABELS: JSON.stringify(labels) }),
    RAY_DEFAULT_PYTHON_VERSION_MATCH_LEVEL: 'minor',
    RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER: '1',
    RAY_JOB_STOP_WAIT_TIME_S: jobStopWait,
    ...(devices.length > 0 && { CUDA_VISIBLE_DEVICES: devices.join(',') }),
    ...(kind === 'head' && {
      RAY_enable_autoscaler_v2: '1',
      // Ray itself shows demand up to a second late.
      RAY_gcs_pull_resource_loads_period_milliseconds: '200',
      RAY_report_worker_backlog_interval_ms: '200',
      // A raylet that was killed refuses each of five looks: known after five seconds, not after fifteen. One that is slow
      // has ten seconds for each.
      RAY_health_check_period_ms: '1000',
      // A dashboard whose parts take longer than half a minute ends itself.
      RAY_DASHBOARD_SUBPROCESS_MODULE_WAIT_READY_TIMEOUT: '180',
      // A job that Ray has may wait for room as long as it takes.
      RAY_JOB_START_TIMEOUT_SECONDS: jobStartTimeout,
    }),
    [markVariable]: markOf(record.id),
  };
}
