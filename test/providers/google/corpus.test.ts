// needs: openssl, google-discovery

/** Every real cluster file for Google is planned without one changing call, or refused for a reason that is listed here. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Google, labProject } from '../../../lab/google/open.ts';
import type { MantaError } from '../../../src/base/errors.ts';
import { outdatedStart } from '../../../src/core/spec/check/outdated-start.ts';
import type { ClusterSpec, Plain, PlainMap } from '../../../src/core/spec/cluster.ts';
import { isText, mapOf } from '../../../src/core/spec/plain.ts';
import { corpus, noCorpus, open } from '../../core/spec/cluster-text.ts';
import { isChange, preparationBed } from './prepare-bed.ts';

const files = (corpus() ?? []).filter(({ name }) => /^gcp(?:-tpu)?__/.test(name));
const skip = files.length === 0 ? noCorpus : false;

/** Names that nobody has given to a project. */
const placeholders = /^(?:todo|<.*>)$/i;

const configsOf = (spec: ClusterSpec): readonly PlainMap[] => [
  spec.head.launchConfig,
  ...spec.nodeTypes.map(({ launchConfig }) => launchConfig),
];
const listOf = (value: Plain | undefined): readonly Plain[] =>
  Array.isArray(value) ? (value as readonly Plain[]) : [];

/** Makes what the file says that its project has: the project itself, and images of its own. */
function furnish({ world, project, credentials }: Google, spec: ClusterSpec): void {
  const { project_id: named } = spec.provider.config;
  if (isText(named) && named !== labProject && !placeholders.test(named) && world.project(named) === undefined)
    world.addProject(named).grant(`serviceAccount:${credentials.client_email}`, 'roles/owner');
  const here = isText(named) ? named : project.id;
  for (const config of configsOf(spec))
    for (const disk of listOf(config.disks)) {
      const { sourceImage: image } = mapOf(mapOf(disk).initializeParams);
      const [, owner = here, family, name] =
        /^(?:.*?projects\/([^/]+)\/)?global\/images\/(family\/)?([^/]+)$/.exec(isText(image) ? image : '') ?? [];
      if (
        name === undefined ||
        world.images.some((each) => each.project === owner && [each.name, each.family].includes(name))
      )
        continue;
      const own = { project: owner, name: family ? `${name}-v1` : name, gib: 10, arm: false, createdAt: 0 };
      world.images.push({ ...own, ...(family && { family: name }) });
    }
}

/** Why a file may be refused, by code and words: it was never finished, or what it names does not exist. */
const allowed: readonly (readonly [code: string, words: RegExp, why: string])[] = [
  ['MANTA_GOOGLE_NO_PROJECT', /'(?:todo|<.*>)'/i, 'a placeholder for the project'],
  ['MANTA_GOOGLE_UNKNOWN_REGION', /Google has no region '/, 'a region that does not exist'],
  ['MANTA_GOOGLE_ZONE_OUTSIDE', /is not in region/, 'a zone of another region'],
  ['MANTA_GOOGLE_BAD_FILE', /machineType is missing/, 'no machine type'],
  ['MANTA_GOOGLE_BAD_FILE', /makes the head a TPU slice/, 'a TPU slice as head'],
  ['MANTA_GOOGLE_BAD_FILE', /has both acceleratorType and acceleratorConfig/, 'two descriptions of one slice'],
  ['MANTA_GOOGLE_BAD_FILE', /is not a type of TPU: /, 'a slice that does not exist'],
];

const count = (counts: Map<string, number>, what: string): unknown => counts.set(what, (counts.get(what) ?? 0) + 1);

test('every real file is planned without a change, or refused for a reason that is listed', { skip }, async (t) => {
  const bed = await preparationBed(t, { retired: true });
  const [refused, others] = [new Map<string, number>(), new Array<string>()];
  let [planned, outdated] = [0, 0];
  for (const { name, bytes } of files) {
    const { spec, source } = open(bytes.toString());
    // What is wrong in the file itself is the matter of `manta config check`.
    if (spec === undefined) {
      count(refused, 'does not resolve');
      continue;
    }
    furnish(bed, spec);
    try {
      const { steps, complete } = await bed.plan({ spec });
      assert.ok(steps.length > 4, name);
      const whole = complete!(spec);
      assert.deepEqual(
        whole.nodeTypes.filter(
          ({ resources }, index) => !spec.nodeTypes[index]!.resourcesKnown && resources['CPU'] === undefined,
        ),
        [],
        name,
      );
      for (const [index, { hostsPerSlice }] of spec.nodeTypes.entries())
        assert.equal(whole.nodeTypes[index]!.hostsPerSlice, hostsPerSlice, name);
      if (outdatedStart(source!.value) !== undefined) outdated++;
      planned++;
    } catch (error) {
      const { code, message } = error as MantaError;
      const reason = allowed.find(([each, words]) => each === code && words.test(message));
      if (reason === undefined) others.push(`${name}: ${code} ${message}`);
      else count(refused, reason[2]);
    }
  }
  assert.equal(others.join('\n'), '');
  assert.deepEqual((await bed.calls()).filter(isChange), []);
  t.diagnostic(`planned: ${planned} of ${files.length} files, ${outdated} of them with a Ray that will not start`);
  for (const [why, number] of refused) t.diagnostic(`refused, ${why}: ${number}`);
  assert.ok(planned >= 130, String(planned));
});
