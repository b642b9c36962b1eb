import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { ownValue } from '../../base/own-value.ts';
import type { Market, NodeTypeName } from '../../core/instance.ts';
import type { ClusterSpec, Plain, PlainMap } from '../../core/spec/cluster.ts';
import type { CommandEnvironment } from '../descriptor.ts';
import { labCloudErrors } from './errors.ts';

/** What a cluster file says of a lab cloud. */
export interface LabCloudSpec {
  readonly endpoint: string;
  readonly token: TokenSource;
  /** In order of preference. Empty: the cloud chooses. */
  readonly zones: readonly string[];
  readonly types: ReadonlyMap<NodeTypeName, LabCloudType>;
  /** Instances may have been stopped: a launch looks for them first. */
  readonly keepsStopped: boolean;
}

/** Where the token of the account is found; it stands in no cluster file. */
export type TokenSource = { readonly file: string } | { readonly env: string };

/** What is launched for a node type, from its `node_config`. */
export interface LabCloudType {
  readonly machineType: string;
  readonly zone?: string;
  readonly market?: Market;
}

const defaultTokenEnv = 'LAB_CLOUD_TOKEN';

/** Reads the provider's part of a cluster's spec. Throws `BadConfig` with the key that is wrong. */
export function readLabCloud(spec: ClusterSpec): LabCloudSpec {
  const { config } = spec.provider;
  const endpoint = textAt(config, 'endpoint', 'provider.endpoint');
  if (endpoint === undefined || !/^http:\/\/[^/\s]+\/?$/.test(endpoint))
    throw labCloudErrors.BadConfig({
      at: 'provider.endpoint',
      problem: `must be the address of the cloud, such as http://10.77.0.254:8700, not '${endpoint ?? ''}'`,
    });
  const file = textAt(config, 'token_file', 'provider.token_file');
  const env = textAt(config, 'token_env', 'provider.token_env');
  const zones = textAt(config, 'availability_zone', 'provider.availability_zone') ?? '';
  return {
    endpoint,
    token: file === undefined ? { env: env ?? defaultTokenEnv } : { file },
    zones: [...new Set(zones.split(',').map((zone) => zone.trim()))].filter(Boolean),
    keepsStopped: spec.stopsIdle === true,
    types: new Map(
      spec.nodeTypes.map(({ name, launchConfig }) => [
        name,
        readType(launchConfig, `available_node_types.${name}.node_config`),
      ]),
    ),
  };
}

function readType(config: PlainMap, at: string): LabCloudType {
  const machineType = textAt(config, 'machine_type', `${at}.machine_type`);
  if (machineType === undefined)
    throw labCloudErrors.BadConfig({
      at: `${at}.machine_type`,
      problem: 'is missing: it names the machine type to launch',
    });
  const zone = textAt(config, 'zone', `${at}.zone`);
  const market = textAt(config, 'market', `${at}.market`);
  if (market !== undefined && market !== 'spot' && market !== 'on-demand')
    throw labCloudErrors.BadConfig({ at: `${at}.market`, problem: `must be spot or on-demand, not '${market}'` });
  return { machineType, ...(zone !== undefined && { zone }), ...(market !== undefined && { market }) };
}

function textAt(map: PlainMap, key: string, at: string): string | undefined {
  const value: Plain | undefined = ownValue(map, key);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw labCloudErrors.BadConfig({ at, problem: 'must be a string' });
  return value;
}

/** The token as it is now: a file that was written again counts at once. */
export function readToken(source: TokenSource, environment: CommandEnvironment): string {
  if ('env' in source) {
    const token = environment[source.env]?.trim();
    if (!token) throw labCloudErrors.NoToken({ from: `$${source.env}`, detail: 'it is not set' });
    return token;
  }
  const path = source.file.replace(/^~(?=\/|$)/, homedir());
  try {
    const token = readFileSync(path, 'utf8').trim();
    if (token) return token;
  } catch (error) {
    throw labCloudErrors.NoToken({ from: path, detail: (error as Error).message }, error);
  }
  throw labCloudErrors.NoToken({ from: path, detail: 'it is empty' });
}
