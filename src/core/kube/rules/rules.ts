import type { Finding } from '../../finding.ts';
import type { Path } from '../../spec/problem.ts';
import type { Manifest } from '../manifest.ts';
import { dig, entriesAt, isMap, type Json, listAt, textAt } from '../object.ts';
import { clusterFindings } from './cluster-rules.ts';
import { jobFindings } from './job-rules.ts';
import { type Adding, Check } from './rule-check.ts';
import { serviceFindings } from './service-rules.ts';

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

/** What the operator refuses, or takes and never gets to work, and the API server accepts; and what nobody means. */
export function checkManifest(manifest: Manifest): readonly Finding[] {
  const check = new Check(manifest);
  const known = textAt(manifest.object, 'apiVersion')?.startsWith('ray.io/') ? kinds.get(manifest.kind) : undefined;
  if (known === undefined) return entryFindings(check);
  nameFindings(check, manifest, known.longest);
  if (isMap(dig(manifest.object, ...known.spec))) clusterFindings(check, known.spec, manifest.kind);
  if (manifest.kind === 'RayService') serviceFindings(check, manifest);
  if (manifest.kind === 'RayJob') jobFindings(check, ['spec']);
  if (manifest.kind === 'RayCronJob') {
    scheduleFindings(check, manifest.object);
    jobFindings(check, ['spec', 'jobTemplate']);
  }
  return check.findings;
}

function nameFindings({ error }: Adding, { name, kind }: Manifest, longest: number): void {
  const path = ['metadata', 'name'];
  if (name.length > longest)
    error(
      path,
      `the name '${name}' has ${name.length} characters, and a ${kind} may have ${longest}`,
      'choose a shorter name',
    );
  if (!/^[a-z](?:[a-z0-9-]*[a-z0-9])?$/.test(name))
    error(
      path,
      `'${name}' is not a valid name`,
      'use lower-case letters, digits and dashes, starting with a letter and not ending with a dash',
    );
}

function scheduleFindings({ error }: Adding, object: Json): void {
  const schedule = textAt(object, 'spec', 'schedule') ?? '';
  const isNamed = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly|every \S+)$/.test(schedule);
  const words = schedule.trim().split(/\s+/);
  if (isNamed || (words.length === 5 && !/TZ=/.test(schedule))) return;
  error(
    ['spec', 'schedule'],
    `'${schedule}' is not a schedule`,
    'write five fields, as in: "0 2 * * *"; zones go to timeZone',
  );
}

/** A door to Serve or the dashboard that everybody may walk through. */
function entryFindings(check: Check): readonly Finding[] {
  const { object, kind } = check.manifest;
  if (kind !== 'Ingress' && kind !== 'HTTPRoute') return [];
  const backends = JSON.stringify(dig(object, 'spec') ?? {});
  const [service] = /"name":"([^"]*(?:-serve-svc|-head-svc))"/.exec(backends)?.slice(1) ?? [];
  const guards = entriesAt(object, 'metadata', 'annotations').some(([name]) =>
    /auth|whitelist|allowlist|iap|cognito|oidc/i.test(name),
  );
  const filters = listAt(object, 'spec', 'rules').some((rule) =>
    /auth/i.test(JSON.stringify(dig(rule, 'filters') ?? '')),
  );
  if (service !== undefined && !guards && !filters)
    check.warning(
      ['spec'],
      `this ${kind} leads to '${service}' without any authentication: anyone who reaches it can run code there`,
      'add the authentication of your controller (an auth annotation or policy), or leave it out and use a port-forward',
    );
  return check.findings;
}
