import { isMap, type Json } from '../kube/object.ts';
import {
  anything,
  int,
  listOf,
  mapOf,
  maybe,
  number,
  oneOf,
  problemsIn,
  type SchemaProblem,
  type ServeField,
  type ServeRecord,
  text,
  whether,
} from './fields.ts';
import { runtimeEnvProblem } from './runtime-env.ts';

/*
 * What Serve takes, as `ServeDeploySchema` of the newest supported Ray judges it (ray/serve/schema.py): pydantic in its lax mode, where
 * numbers may be texts. Unknown keys are dropped unless `isClosed`.
 */

const positive = (more: { readonly max?: number } = {}): ServeField => number({ above: 0, ...more });

const levels = ['CRITICAL', 'FATAL', 'ERROR', 'WARN', 'WARNING', 'INFO', 'DEBUG', 'NOTSET'];
const levelNumbers = [0, 10, 20, 30, 40, 50];

const logging: ServeRecord = {
  isClosed: true,
  fields: {
    encoding: oneOf(['TEXT', 'JSON']),
    log_level: {
      check: (value) =>
        levels.includes(String(value)) || (typeof value === 'number' && levelNumbers.includes(value))
          ? undefined
          : `must be one of ${levels.join(', ')}`,
    },
    logs_dir: maybe(text),
    enable_access_log: whether,
    additional_log_standard_attrs: listOf(text),
  },
};

const tracing: ServeRecord = {
  isClosed: true,
  fields: { enabled: whether, exporter_import_path: text, sampling_ratio: number({ min: 0, max: 1 }) },
};

const controllerOptions: ServeRecord = {
  isClosed: true,
  fields: {
    runtime_env: maybe({
      check: (value) => (isMap(value) ? undefined : 'must be a map'),
      record: { isClosed: true, fields: { env_vars: mapOf(text) } },
    }),
  },
};

const runtimeEnv: ServeField = { check: runtimeEnvProblem };

const actorOptions: ServeRecord = {
  fields: {
    runtime_env: runtimeEnv,
    num_cpus: maybe(number({ min: 0 })),
    num_gpus: maybe(number({ min: 0 })),
    memory: maybe(number({ min: 0 })),
    resources: mapOf(anything),
    accelerator_type: maybe(text),
    label_selector: maybe(mapOf(text)),
    fallback_strategy: maybe(listOf(mapOf(anything))),
  },
};

const gang: ServeRecord = {
  fields: {
    gang_size: { ...int({ min: 1 }), isRequired: true },
    gang_placement_strategy: oneOf(['PACK', 'SPREAD']),
    runtime_failure_policy: oneOf(['RESTART_GANG']),
  },
};

const deployment: ServeRecord = {
  fields: {
    name: { ...text, isRequired: true },
    num_replicas: {
      check: (value, isFloat) =>
        value === null ||
        value === 'auto' ||
        value === true ||
        (typeof value === 'number' && Number.isInteger(value) && value > 0 && !isFloat)
          ? undefined
          : "must be a whole number of at least 1, or 'auto'",
    },
    max_ongoing_requests: int({ min: 1 }),
    max_queued_requests: {
      check: (value, isFloat) =>
        typeof value === 'number' && Number.isInteger(value) && !isFloat && (value === -1 || value >= 1)
          ? undefined
          : 'must be -1 (no limit) or a whole number of at least 1',
    },
    backpressure_config: {
      record: {
        isClosed: true,
        fields: {
          status_code: { check: (value) => (value === 503 || value === 429 ? undefined : 'must be 503 or 429') },
          retry_after_s: maybe(number({ min: 0 })),
        },
      },
    },
    user_config: maybe(mapOf(anything)),
    autoscaling_config: maybe(mapOf(anything)),
    graceful_shutdown_wait_loop_s: number({ min: 0 }),
    graceful_shutdown_timeout_s: number({ min: 0 }),
    health_check_period_s: positive(),
    health_check_timeout_s: positive(),
    ray_actor_options: { record: actorOptions },
    placement_group_bundles: listOf(mapOf(number({}))),
    placement_group_strategy: text,
    placement_group_bundle_label_selector: listOf(mapOf(text)),
    max_replicas_per_node: int({}),
    logging_config: { record: logging },
    request_router_config: mapOf(anything),
    gang_scheduling_config: maybe({ record: gang }),
    deployment_actors: maybe(listOf(mapOf(anything))),
    rolling_update_percentage: positive({ max: 1 }),
    max_surge_percent: int({ min: 0, max: 100 }),
  },
};

const application: ServeRecord = {
  fields: {
    name: text,
    route_prefix: maybe(text),
    import_path: { ...text, isRequired: true },
    runtime_env: runtimeEnv,
    host: text,
    port: int({}),
    deployments: listOf({ record: deployment }),
    autoscaling_policy: maybe(mapOf(anything)),
    args: mapOf(anything),
    logging_config: maybe({ record: logging }),
    external_scaler_enabled: whether,
  },
};

const config: ServeRecord = {
  fields: {
    proxy_location: oneOf(['EveryNode', 'HeadOnly', 'Disabled']),
    http_options: {
      record: {
        fields: {
          host: text,
          port: int({}),
          root_path: text,
          request_timeout_s: maybe(number({})),
          keep_alive_timeout_s: int({}),
          ssl_keyfile: maybe(text),
          ssl_certfile: maybe(text),
          ssl_keyfile_password: maybe(text),
          ssl_ca_certs: maybe(text),
        },
      },
    },
    grpc_options: {
      record: {
        fields: {
          port: int({}),
          grpc_servicer_functions: listOf(text),
          request_timeout_s: maybe(number({})),
          enable_reflection: whether,
        },
      },
    },
    controller_options: maybe({ record: controllerOptions }),
    logging_config: maybe({ record: logging }),
    tracing_config: maybe({ record: tracing }),
    applications: { ...listOf({ record: application }), isRequired: true },
    target_capacity: maybe(number({ min: 0, max: 100 })),
  },
};

const levelsOf = { application, deployment, ray_actor_options: actorOptions };

/** Whether Serve keeps a key there, or drops it. */
export const isKnownKey = (level: keyof typeof levelsOf, key: string): boolean =>
  Object.hasOwn(levelsOf[level].fields, key);

/** Everything in a config that Serve refuses by its type, and keys that it drops without a word. */
export const schemaProblems = (value: Json): readonly SchemaProblem[] => problemsIn(value, config, []);
