// needs: botocore

/** Every real cluster file for AWS goes through `manta up --plan` without one changing call, or is refused for a reason that is listed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { awsCatalog, awsTypes } from '../../../lab/aws/catalog.ts';
import { labAccount } from '../../../lab/aws/open.ts';
import { outdatedStart } from '../../../src/core/spec/check/outdated-start.ts';
import { corpus, noCorpus, open } from '../../core/spec/cluster-text.ts';
import { checkPlan, configsOf, corpusBed, reasonOf } from './corpus-bed.ts';

const files = (corpus() ?? []).filter(({ name }) => name.startsWith('aws__'));
const skip = files.length === 0 ? noCorpus : false;

const count = (counts: Map<string, number>, what: string): unknown => counts.set(what, (counts.get(what) ?? 0) + 1);

/** The same file as somebody elsewhere would write it: another region with its zones, and another machine. */
function elsewhere(text: string, number: number): string {
  const all = Object.entries(awsCatalog().regions).filter(([region]) => !/^(?:cn|us-gov)-/.test(region));
  const [region, zones] = all[number % all.length]!;
  const machines = [...awsTypes().values()].filter(
    ({ retired, architecture, family }) => !retired && architecture === 'x86_64' && !family.startsWith('mac'),
  );
  const { name } = machines[(37 * number) % machines.length]!;
  return text
    .replace(
      /\b[a-z]{2}-[a-z]+-\d([a-f])\b/g,
      (_zone, letter: string) => zones['abcdef'.indexOf(letter) % zones.length]!,
    )
    .replace(/^(\s*region:\s*)[a-z]{2}-[a-z]+-\d\b/gm, `$1${region}`)
    .replace(/(InstanceType:\s*)[a-z]\d\w*\.\w+/g, `$1${name}`);
}

test('it does so in every region, with every machine', { skip }, async (t) => {
  const bed = await corpusBed(t);
  const [others, machines] = [new Array<string>(), new Set<string>()];
  // One in five is enough: each has another region and another machine.
  for (const [number, file] of files.entries()) {
    if (number % 5 !== 0) continue;
    const ran = await bed.plan(elsewhere(file.bytes.toString(), number));
    if (ran.exit === 0) {
      checkPlan(file.name, ran);
      machines.add(ran.plan!.head.machine ?? '');
    } else if (reasonOf(file, ran) === undefined) others.push(`${file.name}: ${ran.exit} ${ran.message}`);
  }
  assert.deepEqual(others, []);
  assert.ok(machines.size > 30, String(machines.size));
});

test('what is planned is launched, whatever the file says of its machines', { skip }, async (t) => {
  const bed = await corpusBed(t);
  const [shapes, others] = [new Set<string>(), new Array<string>()];
  for (const file of files) {
    const text = file.bytes.toString().replace(/(arn:aws:iam::)\d{12}:/g, `$1${labAccount}:`);
    const { spec, problems } = open(text);
    if (spec === undefined || problems.some(({ severity }) => severity === 'error')) continue;
    // Of files that say the same kinds of things one is enough.
    const shape = [...new Set(configsOf(spec).flatMap((config) => Object.keys(config)))].toSorted().join();
    if (shapes.has(shape) || (await bed.plan(text)).exit !== 0) continue;
    shapes.add(shape);
    others.push(...(await bed.launchAll(text)).map((failure) => `${file.name}: ${failure}`));
  }
  assert.deepEqual(others, []);
  t.diagnostic(`launched: ${shapes.size} kinds of files`);
  assert.ok(shapes.size > 20, String(shapes.size));
});

test('every real file is planned without a change, or refused for a reason that is listed', { skip }, async (t) => {
  const bed = await corpusBed(t);
  const [refused, others] = [new Map<string, number>(), new Array<string>()];
  let [planned, outdated] = [0, 0];
  for (const file of files) {
    const ran = await bed.plan(file.bytes.toString());
    if (ran.exit === 0) {
      checkPlan(file.name, ran);
      if (outdatedStart(open(ran.text).source!.value) !== undefined) outdated++;
      planned++;
      continue;
    }
    const reason = reasonOf(file, ran);
    if (reason === undefined) others.push(`${file.name}: ${ran.exit} ${ran.message}`);
    else count(refused, reason);
  }
  assert.deepEqual(others, []);
  assert.deepEqual(await bed.changes(), []);
  t.diagnostic(`planned: ${planned} of ${files.length} files, ${outdated} of them with a Ray that cannot start`);
  for (const [why, number] of refused) t.diagnostic(`refused, ${why}: ${number}`);
  // Four out of five: the rest was never finished by who wrote it.
  assert.ok(planned > 0.75 * files.length, String(planned));
});
