import type { Finding } from '../finding.ts';
import type { Path } from '../spec/problem.ts';
import type { Manifest } from './manifest.ts';
import { dig, entriesAt, isMap, type Json, listAt, numberAt, textAt } from './object.ts';

/** Where each kind has its RayClusterSpec, and how long its name may be: the operator adds to it. */
const kinds = new Map<string, { readonly spec: Path; readonly longest: number }>([
  ['RayCluster', { spec: ['spec'], longest: 53 }],
  ['RayService', { spec: ['spec', 'rayClusterConfig'], longest: 47 }],
  ['RayJob', { spec: ['spec', 'rayClusterSpec'], longest: 47 }],
  ['RayCronJob', { spec: ['spec', 'jobTemplate', 'rayClusterSpec'], longest: 36 }],
]);

export const rayKinds: readonly string[] = [...kinds.keys()];

/** The RayClusterSpec in an object of one of KubeRay's kinds. */
export function clusterSpecOf(kind: string, object: Json): Json | undefined {
  const spec = dig(object, ...(kinds.get(kind)?.spec ?? ['none']));
  return isMap(spec) ? spec : undefined;
}

/** What the operator refuses, or takes and never gets to work, and the API server accepts. */
export function checkManifest(manifest: Manifest): readonly Finding[] {
  const known = kinds.get(manifest.kind);
  if (known === undefined || !textAt(manifest.object, 'apiVersion')?.startsWith('ray.io/')) return [];
  const check = new Check(manifest);
  check.name(known.longest);
  if (isMap(dig(manifest.object, ...known.spec))) check.cluster(known.spec);
  return check.findings;
}

class Check {
  readonly findings: Finding[] = [];
  readonly #manifest: Manifest;

  constructor(manifest: Manifest) {
    this.#manifest = manifest;
  }

  #add(severity: Finding['severity'], path: Path, says: string, next: string): void {
    const { file } = this.#manifest;
    this.findings.push({ severity, file, at: this.#manifest.at(path), says, next });
  }

  #dig(path: Path): Json | undefined {
    return dig(this.#manifest.object, ...path);
  }

  name(longest: number): void {
    const { name, kind } = this.#manifest;
    if (name.length > longest)
      this.#add(
        'error',
        ['metadata', 'name'],
        `the name '${name}' has ${name.length} characters, and a ${kind} may have ${longest}`,
        'choose a shorter name',
      );
    if (!/^[a-z](?:[a-z0-9-]*[a-z0-9])?$/.test(name))
      this.#add(
        'error',
        ['metadata', 'name'],
        `'${name}' is not a valid name`,
        'use lower-case letters, digits and dashes, starting with a letter and not ending with a dash',
      );
  }

  cluster(spec: Path): void {
    this.#rayVersion(spec);
    this.#group([...spec, 'headGroupSpec'], 'the head group');
    const groups = listAt(this.#manifest.object, ...spec, 'workerGroupSpecs');
    groups.forEach((group, at) => {
      const path = [...spec, 'workerGroupSpecs', at];
      this.#group(path, `the worker group '${textAt(group, 'groupName') ?? at}'`);
      this.#replicas(path, group);
    });
  }

  #rayVersion(spec: Path): void {
    const version = this.#dig([...spec, 'rayVersion']);
    const [, minor = ''] = /^2\.(\d+)\./.exec(String(version ?? '')) ?? [];
    if (version === undefined)
      this.#add('warning', spec, 'rayVersion is not set', "set it to the image's: probes and token login depend on it");
    else if (minor !== '' && Number(minor) >= 11 && Number(minor) <= 37)
      this.#add(
        'warning',
        [...spec, 'rayVersion'],
        `Ray ${String(version)} does not work with current KubeRay: its dashboard agent hangs and probes fail (2.11 to 2.37)`,
        'use Ray 2.38 or newer',
      );
  }

  #group(path: Path, named: string): void {
    for (const [name, value] of entriesAt(this.#manifest.object, ...path, 'rayStartParams')) {
      const where = [...path, 'rayStartParams', name];
      if (typeof value !== 'string')
        this.#add(
          'error',
          where,
          `rayStartParams.${name} of ${named} must be a string, not ${value === null ? 'null' : JSON.stringify(value)}`,
          `put it in quotes: ${name}: "${value === null ? '' : String(value)}"`,
        );
      if (name === 'labels')
        this.#add(
          'error',
          where,
          `rayStartParams of ${named} may not have labels`,
          `move them to 'labels' of the group`,
        );
    }
    if (!isMap(this.#dig(path))) return;
    const containers = [...path, 'template', 'spec', 'containers'];
    if (listAt(this.#manifest.object, ...containers).length === 0)
      this.#add('error', [...path, 'template'], `${named} has no container`, 'add one under template.spec.containers');
  }

  #replicas(path: Path, group: Json): void {
    const [least, most, now] = ['minReplicas', 'maxReplicas', 'replicas'].map((key) => numberAt(group, key));
    if (least !== undefined && most !== undefined && least > most)
      this.#add(
        'error',
        [...path, 'minReplicas'],
        `minReplicas ${least} is more than maxReplicas ${most}`,
        'swap them',
      );
    else if (now !== undefined && most !== undefined && now > most)
      this.#add(
        'warning',
        [...path, 'replicas'],
        `replicas ${now} is more than maxReplicas ${most}`,
        'raise maxReplicas',
      );
    for (const [key, value] of [
      ['minReplicas', least],
      ['maxReplicas', most],
      ['replicas', now],
    ] as const)
      if (value !== undefined && value < 0)
        this.#add('error', [...path, key], `${key} is ${value}`, 'it may not be negative');
  }
}
