import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../scripts/docs/declared.ts';
import { commands } from '../../src/cli/commands.ts';
import { globalOptions } from '../../src/cli/global-options.ts';
import { parse } from '../../src/cli/parse/parse.ts';
import { rayWords } from '../../src/cli/ray-commands.ts';

const page = readFileSync(join(root, 'docs/coming-from-ray.md'), 'utf8');
const rows = [...page.matchAll(/^\| `ray ([^`]+)` \| `manta ([^`]+)` \|/gm)].map(([, ray, manta]) => ({
  ray: ray!.split(' '),
  manta: manta!.split(' '),
}));

test('each row names the command that the words of ray lead to', () => {
  for (const { ray, manta } of rows) {
    const [from, to] = [parse(ray, commands), parse(manta, commands)];
    assert.ok(from.kind === 'run' && to.kind === 'run');
    assert.equal(from.command, to.command, ray.join(' '));
    assert.deepEqual(from.invocation, to.invocation);
  }
});

test('every command that Ray has too, and every old name, has a row', () => {
  const described = new Set(rows.map(({ ray }) => ray.join(' ').replaceAll('_', '-')));
  for (const { path, formerly = [] } of commands.filter(({ inRay }) => inRay !== undefined))
    for (const words of [path, ...formerly.map((name) => [...path.slice(0, -1), name])])
      assert.ok(
        [...described].some((row) => row.startsWith(words.join(' '))),
        words.join(' '),
      );
});

test('every option without effect is listed with its reason, and no other', () => {
  const declared = [...globalOptions, ...commands.flatMap(({ options }) => options)].flatMap(({ name, ignored }) =>
    ignored === undefined ? [] : [`| \`--${name}\` | ${ignored} |`],
  );
  const listed = page.match(/^\| `--[^`]+` \| .* \|$/gm) ?? [];
  assert.deepEqual(listed.toSorted(), [...new Set(declared)].toSorted());
});

test('every command that stays with Ray is named', () => {
  const section = page.split('## Commands that stay with Ray')[1]!.split('\n\n')[1]!;
  const named = [...section.matchAll(/`([\w-]+)`/g)].map(([, word]) => word!);
  assert.deepEqual(named.toSorted(), rayWords.toSorted());
});
