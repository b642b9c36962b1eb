import { tokensSince } from '../../ray-version.ts';
import type { Path } from '../../spec/problem.ts';
import { dig, entriesAt, isMap, type Json, listAt, numberAt, textAt } from '../object.ts';
import type { Check } from './rule-check.ts';

/** What the operator refuses in a RayClusterSpec, wherever it stands. */
export function clusterFindings(check: Check, spec: Path, kind: string): void {
  versionFindings(check, spec);
  groupFindings(check, [...spec, 'headGroupSpec'], 'the head group');
  const isScaled = check.at([...spec, 'enableInTreeAutoscaling']) === true;
  const groups = listAt(check.at(spec), 'workerGroupSpecs');
  groups.forEach((group, at) => {
    const path = [...spec, 'workerGroupSpecs', at];
    groupFindings(check, path, `the worker group '${textAt(group, 'groupName') ?? at}'`);
    replicaFindings(check, path, group);
    idleFindings(check, spec, path);
    if (isScaled && dig(group, 'suspend') === true)
      check.error([...path, 'suspend'], 'a worker group cannot be suspended with the autoscaler on', 'remove suspend');
  });
  scalerFindings(check, spec, isScaled);
  storageFindings(check, spec);
  tokenFindings(check, spec, kind);
}

function versionFindings(check: Check, spec: Path): void {
  const version = check.at([...spec, 'rayVersion']);
  const [, minor = ''] = /^2\.(\d+)\./.exec(String(version ?? '')) ?? [];
  if (version === undefined)
    check.warning(spec, 'rayVersion is not set', "set it to the image's: probes and token login depend on it");
  else if (minor !== '' && Number(minor) >= 11 && Number(minor) <= 37)
    check.warning(
      [...spec, 'rayVersion'],
      `Ray ${String(version)} does not work with current KubeRay: its dashboard agent hangs and probes fail (2.11 to 2.37)`,
      'use Ray 2.38 or newer',
    );
  imageFindings(check, spec, typeof version === 'string' ? version : undefined);
}

/** Tags of Ray's own images begin with its version. */
function imageFindings(check: Check, spec: Path, version: string | undefined): void {
  if (version === undefined) return;
  const image = [...spec, 'headGroupSpec', 'template', 'spec', 'containers', 0, 'image'];
  const [, tagged] = /^(?:[^:]*\/)?ray(?:-ml|-llm)?:(\d+\.\d+\.\d+)/.exec(String(check.at(image) ?? '')) ?? [];
  if (tagged !== undefined && tagged !== version)
    check.warning(
      image,
      `the image has Ray ${tagged}, and rayVersion is ${version}`,
      'make them the same: probes depend on rayVersion',
    );
}

const resourceParams = ['num-cpus', 'num-gpus', 'memory', 'resources'];

function groupFindings(check: Check, path: Path, named: string): void {
  for (const [name, value] of entriesAt(check.at([...path, 'rayStartParams']))) {
    const where = [...path, 'rayStartParams', name];
    if (typeof value !== 'string')
      check.error(
        where,
        `rayStartParams.${name} of ${named} must be a string, not ${value === null ? 'null' : JSON.stringify(value)}`,
        `put it in quotes: ${name}: "${value === null ? '' : String(value)}"`,
      );
    if (name === 'labels')
      check.error(where, `rayStartParams of ${named} may not have labels`, `move them to 'labels' of the group`);
  }
  const group = check.at(path);
  if (!isMap(group)) return;
  const written = resourceParams.filter((name) => (textAt(group, 'rayStartParams', name) ?? '') !== '');
  if (written.length > 0 && entriesAt(group, 'resources').length > 0)
    check.error(
      [...path, 'resources'],
      `${named} has both resources and rayStartParams.${written[0]}`,
      'keep one of them',
    );
  if (listAt(group, 'template', 'spec', 'containers').length === 0)
    check.error([...path, 'template'], `${named} has no container`, 'add one under template.spec.containers');
  sharedFindings(check, path, named);
}

/** Data that only one node has is lost with its pod, and other nodes do not see it. */
function sharedFindings(check: Check, path: Path, named: string): void {
  listAt(check.at([...path, 'template', 'spec', 'volumes'])).forEach((volume, at) => {
    const local = textAt(volume, 'hostPath', 'path');
    if (local !== undefined && !local.startsWith('/dev/'))
      check.warning(
        [...path, 'template', 'spec', 'volumes', at],
        `${named} keeps ${local} on the node that it happens to run on`,
        'use a persistentVolumeClaim that several nodes can mount (ReadWriteMany, such as NFS)',
      );
  });
}

function replicaFindings(check: Check, path: Path, group: Json): void {
  const [least, most, now] = ['minReplicas', 'maxReplicas', 'replicas'].map((key) => numberAt(group, key));
  if (least !== undefined && most !== undefined && least > most)
    check.error([...path, 'minReplicas'], `minReplicas ${least} is more than maxReplicas ${most}`, 'swap them');
  else if (now !== undefined && most !== undefined && now > most)
    check.warning([...path, 'replicas'], `replicas ${now} is more than maxReplicas ${most}`, 'raise maxReplicas');
  for (const [key, value] of [
    ['minReplicas', least],
    ['maxReplicas', most],
    ['replicas', now],
  ] as const)
    if (value !== undefined && value < 0) check.error([...path, key], `${key} is ${value}`, 'it may not be negative');
}

const scaler2 = 'RAY_enable_autoscaler_v2';

function headVariable(check: Check, spec: Path, name: string): Json | undefined {
  const env = listAt(check.at([...spec, 'headGroupSpec', 'template', 'spec', 'containers', 0]), 'env');
  return env.find((each) => textAt(each, 'name') === name);
}

const isOn = (variable: Json | undefined): boolean => ['1', 'true'].includes(textAt(variable, 'value') ?? '');

const usesScaler2 = (check: Check, spec: Path): boolean =>
  check.at([...spec, 'autoscalerOptions', 'version']) === 'v2' || isOn(headVariable(check, spec, scaler2));

function idleFindings(check: Check, spec: Path, path: Path): void {
  const idle = check.at([...path, 'idleTimeoutSeconds']);
  if (typeof idle !== 'number') return;
  const where = [...path, 'idleTimeoutSeconds'];
  if (idle < 0) check.error(where, `idleTimeoutSeconds is ${idle}`, 'it may not be negative');
  else if (!usesScaler2(check, spec))
    check.error(
      where,
      'idleTimeoutSeconds of a group needs autoscaler v2',
      'set autoscalerOptions.version: v2, or autoscalerOptions.idleTimeoutSeconds for all groups',
    );
}

function scalerFindings(check: Check, spec: Path, isScaled: boolean): void {
  const options = [...spec, 'autoscalerOptions'];
  const idle = check.at([...options, 'idleTimeoutSeconds']);
  if (typeof idle === 'number' && idle < 0)
    check.error([...options, 'idleTimeoutSeconds'], `idleTimeoutSeconds is ${idle}`, 'it may not be negative');
  const variable = headVariable(check, spec, scaler2);
  if (!isScaled) {
    if (isOn(variable))
      check.error(spec, `${scaler2} needs enableInTreeAutoscaling`, 'set enableInTreeAutoscaling: true');
    return;
  }
  if (variable !== undefined && check.at([...options, 'version']) !== undefined)
    check.error(
      [...options, 'version'],
      `autoscalerOptions.version and the variable ${scaler2} exclude each other`,
      'remove the variable',
    );
  if (check.at([...options, 'version']) !== 'v2') return;
  const groups = [
    ['headGroupSpec'],
    ...listAt(check.at(spec), 'workerGroupSpecs').map((_, at) => ['workerGroupSpecs', at]),
  ];
  for (const group of groups) {
    const where = [...spec, ...group, 'template', 'spec', 'restartPolicy'];
    const policy = check.at(where);
    if (policy !== undefined && policy !== 'Never')
      check.error(where, `autoscaler v2 needs restartPolicy: Never, not ${String(policy)}`, 'remove restartPolicy');
  }
}

/** Where the GCS keeps its state: by options, or by the older annotation and variables, and not by both. */
function storageFindings(check: Check, spec: Path): void {
  const hasOptions = isMap(check.at([...spec, 'gcsFaultToleranceOptions']));
  const annotations = check.at(['metadata', 'annotations']);
  const enabled = textAt(annotations, 'ray.io/ft-enabled') ?? '';
  const options = [...spec, 'gcsFaultToleranceOptions'];
  const next = 'write it under gcsFaultToleranceOptions alone';
  if (enabled !== '' && hasOptions)
    check.error(
      options,
      'gcsFaultToleranceOptions and the annotation ray.io/ft-enabled exclude each other',
      'remove the annotation',
    );
  const address = headVariable(check, spec, 'RAY_REDIS_ADDRESS');
  if (address !== undefined && !hasOptions && enabled.toLowerCase() !== 'true')
    check.error(spec, 'RAY_REDIS_ADDRESS of the head needs gcsFaultToleranceOptions', next);
  const params = [...spec, 'headGroupSpec', 'rayStartParams'];
  if (hasOptions) {
    if ((textAt(check.at(params), 'redis-password') ?? '') !== '')
      check.error(params, 'redis-password and gcsFaultToleranceOptions exclude each other', next);
    for (const name of ['REDIS_PASSWORD', 'RAY_REDIS_ADDRESS'])
      if (headVariable(check, spec, name) !== undefined)
        check.error(options, `${name} of the head and gcsFaultToleranceOptions exclude each other`, next);
    if ((textAt(annotations, 'ray.io/external-storage-namespace') ?? '') !== '')
      check.error(options, 'gcsFaultToleranceOptions and ray.io/external-storage-namespace exclude each other', next);
  }
  if (
    (textAt(check.at(params), 'redis-username') ?? '') !== '' ||
    headVariable(check, spec, 'REDIS_USERNAME') !== undefined
  )
    check.error(spec, 'the user of Redis can be set by gcsFaultToleranceOptions.redisUsername only', next);
}

/** Ray's token: a dashboard without one runs whatever anybody sends it. */
function tokenFindings(check: Check, spec: Path, kind: string): void {
  const auth = [...spec, 'authOptions'];
  const mode = check.at([...auth, 'mode']);
  const byKubernetes = check.at([...auth, 'enableK8sTokenAuth']) === true;
  if (byKubernetes && kind !== 'RayCluster')
    check.error(auth, `a ${kind} cannot use enableK8sTokenAuth`, 'use mode: token alone');
  if (mode !== 'token') {
    if (byKubernetes) check.error(auth, 'enableK8sTokenAuth needs mode: token', 'set authOptions.mode: token');
    const type = textAt(check.at([...spec, 'headGroupSpec']), 'serviceType');
    const isOpen =
      type === 'LoadBalancer' || type === 'NodePort' || check.at([...spec, 'headGroupSpec', 'enableIngress']) === true;
    if (isOpen)
      check.warning(
        [...spec, 'headGroupSpec'],
        "Ray's dashboard is open to anyone who reaches it from outside, without a token: it runs what anybody sends",
        `set authOptions.mode: token (Ray ${tokensSince} and newer), or keep serviceType: ClusterIP and use a port-forward`,
      );
    return;
  }
  const version = check.at([...spec, 'rayVersion']);
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(typeof version === 'string' ? version : '') ?? [];
  const least = byKubernetes ? 55 : 52;
  if (Number(major) < 2 || (Number(major) === 2 && Number(minor) < least))
    check.error(
      auth,
      `authOptions needs Ray 2.${least}, and rayVersion is ${String(version ?? 'not set')}`,
      `use Ray 2.${least} or newer, and set rayVersion`,
    );
  if (byKubernetes && (textAt(check.at(auth), 'secretName') ?? '') !== '')
    check.error(auth, 'enableK8sTokenAuth and secretName exclude each other', 'remove secretName');
}
