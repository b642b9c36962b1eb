import { readServeConfig } from '../../serve/config.ts';
import type { Manifest } from '../manifest.ts';
import { dig, entriesAt, isMap, listAt, numberAt, textAt } from '../object.ts';
import type { Check } from './rule-check.ts';

/** What is wrong with a RayService besides its cluster: its Serve config, its ports, how it is upgraded. */
export function serviceFindings(check: Check, manifest: Manifest): void {
  serveFindings(check, manifest);
  portFindings(check);
  strategyFindings(check);
  databaseFindings(check);
  for (const key of ['serviceUnhealthySecondThreshold', 'deploymentUnhealthySecondThreshold'])
    if (check.at(['spec', key]) !== undefined)
      check.warning(
        ['spec', key],
        `KubeRay no longer looks at ${key}`,
        'remove it; the annotation ray.io/initializing-timeout ends a start that takes too long',
      );
  const head = ['spec', 'rayClusterConfig', 'headGroupSpec', 'headService', 'metadata', 'name'];
  if ((textAt(check.at(head.slice(0, -1)), 'name') ?? '') !== '')
    check.error(head, 'a RayService names its head service itself', 'remove the name');
  if (isMap(check.at(['spec', 'rayClusterConfig', 'upgradeStrategy'])))
    check.error(
      ['spec', 'rayClusterConfig', 'upgradeStrategy'],
      'upgradeStrategy is for RayClusters of your own',
      'move it to spec.upgradeStrategy: NewCluster, NewClusterWithIncrementalUpgrade or None',
    );
  const timeout = textAt(check.at(['metadata', 'annotations']), 'ray.io/initializing-timeout') ?? '';
  if (timeout !== '' && !/^(?:[1-9]\d*|(?:\d+(?:\.\d+)?(?:h|m|s|ms|us|ns))+)$/.test(timeout))
    check.error(
      ['metadata', 'annotations', 'ray.io/initializing-timeout'],
      `'${timeout}' is not a time`,
      'write 30m, 1h or a number of seconds',
    );
}

function serveFindings(check: Check, manifest: Manifest): void {
  const { file, object } = manifest;
  const path = ['spec', 'serveConfigV2'];
  const text = dig(object, ...path);
  if (isMap(text))
    return check.error(
      path,
      'serveConfigV2 is a text, not a map',
      'write serveConfigV2: | and indent the config below it',
    );
  if (typeof text !== 'string' || text.trim() === '')
    return check.warning(
      path,
      'serveConfigV2 is empty: nothing will be served',
      'paste the config there, or give --serve-config FILE',
    );
  check.findings.push(
    ...readServeConfig(text, 'operator', { file, within: (at) => manifest.within(path, at) }).findings,
  );
}

/** KubeRay finds the port of Serve by its name. */
function portFindings(check: Check): void {
  const path = ['spec', 'rayClusterConfig', 'headGroupSpec', 'template', 'spec', 'containers', 0, 'ports'];
  const ports = listAt(check.at(path.slice(0, -1)), 'ports');
  if (ports.length > 0 && !ports.some((port) => /^serve(?:-|$)/.test(textAt(port, 'name') ?? '')))
    check.warning(
      path,
      "the head lists ports, and none is named 'serve': KubeRay makes no Service for Serve then",
      'add {name: serve, containerPort: 8000}',
    );
}

const strategies = ['NewCluster', 'NewClusterWithIncrementalUpgrade', 'None'];

function strategyFindings(check: Check): void {
  const path = ['spec', 'upgradeStrategy'];
  const type = check.at([...path, 'type']);
  if (type !== undefined && !strategies.includes(String(type)))
    check.error(
      [...path, 'type'],
      `there is no upgradeStrategy.type '${String(type)}'`,
      `use one of: ${strategies.join(', ')}`,
    );
  const delay = check.at(['spec', 'rayClusterDeletionDelaySeconds']);
  if (typeof delay === 'number' && delay < 0)
    check.error(['spec', 'rayClusterDeletionDelaySeconds'], `the delay is ${delay}`, 'it may not be negative');
  if (type !== 'NewClusterWithIncrementalUpgrade') return;
  const options = [...path, 'clusterUpgradeOptions'];
  if (check.at(['spec', 'rayClusterConfig', 'enableInTreeAutoscaling']) !== true)
    check.error(
      path,
      'an incremental upgrade needs the autoscaler',
      'set rayClusterConfig.enableInTreeAutoscaling: true',
    );
  if (!isMap(check.at(options)))
    return check.error(
      path,
      'an incremental upgrade needs clusterUpgradeOptions',
      'set stepSizePercent, intervalSeconds and gatewayClassName there',
    );
  const value = check.at(options);
  const [step, interval, surge] = ['stepSizePercent', 'intervalSeconds', 'maxSurgePercent'].map((key) =>
    numberAt(value, key),
  );
  if (step === undefined || step < 0 || step > 100)
    check.error(options, 'stepSizePercent must be from 0 to 100', 'set it, as in 10');
  if (interval === undefined || interval <= 0)
    check.error(options, 'intervalSeconds must be more than 0', 'set it, as in 10');
  if (surge !== undefined && (surge < 0 || surge > 100))
    check.error(options, 'maxSurgePercent must be from 0 to 100', 'change it');
  if ((textAt(value, 'gatewayClassName') ?? '') === '')
    check.error(options, 'gatewayClassName is missing', 'name the class of your Gateway controller');
  check.warning(
    path,
    'incremental upgrades are alpha in KubeRay, and need the Gateway API with a controller',
    'use NewCluster if you do not need them',
  );
}

/** A file is not seen by other nodes: each would have a database of its own. */
function databaseFindings(check: Check): void {
  const groups = listAt(check.at(['spec', 'rayClusterConfig']), 'workerGroupSpecs');
  if (groups.length === 0) return;
  const text = textAt(check.manifest.object, 'spec', 'serveConfigV2') ?? '';
  const containers = ['spec', 'rayClusterConfig', 'headGroupSpec', 'template', 'spec', 'containers', 0];
  const variables = entriesAt(check.at(containers)).flatMap(([key, value]) =>
    key === 'env' ? [JSON.stringify(value)] : [],
  );
  if (!/sqlite/i.test([text, ...variables].join('\\n'))) return;
  check.warning(
    ['spec', 'serveConfigV2'],
    'this uses SQLite with several nodes: each node has a database file of its own, and they end with their pods',
    'use PostgreSQL, or one node and a volume',
  );
}
