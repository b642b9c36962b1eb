import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { importProblem, layers } from '../../scripts/lint/layers.ts';
import { lengthsRuleExcept } from '../../scripts/lint/lengths.ts';
import type { Node } from '../../scripts/lint/rule.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Case {
  readonly what: string;
  readonly file: string;
  readonly text: string;
  /** The rule that must find it; undefined when the file is fine. */
  readonly rule?: string;
}

const layer = 'manta(layers)';
const purity = 'manta(purity)';
const printing = 'manta(printing)';
const names = 'manta(names)';
const uniqueTypes = 'manta(unique-types)';
const lengths = 'manta(lengths)';

/** `lines` statements, one a line. */
const statements = (lines: number): string => '  count += 1;\n'.repeat(lines);

const cases: readonly Case[] = [
  {
    what: 'a type that another file exports too',
    file: 'jobs/twice.ts',
    text: 'export interface Twice {}',
    rule: uniqueTypes,
  },
  {
    what: 'a class with the name of that type',
    file: 'head/twice.ts',
    text: 'export class Twice {}',
    rule: uniqueTypes,
  },
  {
    what: 'a type of that name that stays in its file',
    file: 'state/twice.ts',
    text: 'type Twice = 1;\nexport const a: Twice = 1;',
  },
  { what: 'a type of the page of that name', file: 'web/twice.ts', text: 'export interface Twice {}' },
  { what: 'an import upwards', file: 'core/up.ts', text: "export { a } from '../cli/a.ts';", rule: layer },
  {
    what: 'a type import upwards',
    file: 'base/up.ts',
    text: "import type { A } from '../core/a.ts';\nexport type B = A;",
    rule: layer,
  },
  {
    what: 'an import on demand upwards',
    file: 'jobs/up.ts',
    text: "export const a = () => import('../head/a.ts');",
    rule: layer,
  },
  {
    what: 'an import type expression upwards',
    file: 'core/type.ts',
    text: "export type A = import('../head/a.ts').A;",
    rule: layer,
  },
  { what: 'an import out of src', file: 'cli/out.ts', text: "export { a } from '../../scripts/a.ts';", rule: layer },
  { what: 'a folder that is no layer', file: 'utils/a.ts', text: "export { a } from '../base/a.ts';", rule: layer },
  { what: 'I/O in core', file: 'core/io.ts', text: "export { readFileSync } from 'node:fs';", rule: layer },
  { what: 'a package in core', file: 'core/package.ts', text: "export { a } from 'undici';", rule: layer },
  {
    what: 'a module of base that does things, in core',
    file: 'core/base.ts',
    text: "export { a } from '../base/events.ts';",
    rule: layer,
  },
  { what: 'an import downwards', file: 'autoscaler/down.ts', text: "export type { A } from '../core/a.ts';" },
  {
    what: 'error and clock declarations in core',
    file: 'core/ok.ts',
    text: "export type { Instant } from '../base/time/clock.ts';",
  },

  { what: 'the clock in core', file: 'core/now.ts', text: 'export const a = Date.now();', rule: purity },
  {
    what: 'the clock in core by brackets',
    file: 'core/now2.ts',
    text: "export const a = Date['now']();",
    rule: purity,
  },
  { what: 'a date of now in core', file: 'core/date.ts', text: 'export const a = new Date();', rule: purity },
  { what: 'a date text of now in core', file: 'core/date2.ts', text: 'export const a = Date();', rule: purity },
  {
    what: 'the monotonic clock in core',
    file: 'core/perf.ts',
    text: 'export const a = performance.now();',
    rule: purity,
  },
  { what: 'randomness in core', file: 'core/random.ts', text: 'export const a = Math.random();', rule: purity },
  { what: 'random ids in core', file: 'core/uuid.ts', text: 'export const a = crypto.randomUUID();', rule: purity },
  { what: 'a timer in core', file: 'core/timer.ts', text: 'export const a = setTimeout(() => {}, 1);', rule: purity },
  { what: 'the environment in core', file: 'core/env.ts', text: "export const a = process.env['A'];", rule: purity },
  {
    what: 'the network in core',
    file: 'core/net.ts',
    text: "export const a = () => fetch('http://a.test');",
    rule: purity,
  },
  {
    what: 'the way around through globalThis',
    file: 'core/global.ts',
    text: 'export const a = globalThis;',
    rule: purity,
  },
  { what: 'printing in core', file: 'core/print.ts', text: "console.log('a');", rule: purity },
  {
    what: 'a given date in core',
    file: 'core/given.ts',
    text: 'export const a = (now: number) => new Date(now).toISOString();',
  },
  { what: 'the clock outside core', file: 'head/now.ts', text: 'export const a = Date.now();' },

  { what: 'console below cli', file: 'base/print.ts', text: "console.log('a');", rule: printing },
  { what: 'console in cli', file: 'cli/print.ts', text: "console.error('a');", rule: printing },
  { what: 'standard output below cli', file: 'head/out.ts', text: "process.stdout.write('a');", rule: printing },
  { what: 'ending the process below cli', file: 'providers/exit.ts', text: 'process.exit(1);', rule: printing },
  { what: 'standard output in cli', file: 'cli/out2.ts', text: "process.stdout.write('a');" },

  {
    what: 'an error declared outside a table',
    file: 'head/x.ts',
    text: "import { defineError } from '../base/errors.ts';\nexport const a = defineError({});",
    rule: 'manta(tables)',
  },
  {
    what: 'an event declared outside a table',
    file: 'head/y.ts',
    text: "import { defineEvent } from '../base/events.ts';\nexport const a = defineEvent({});",
    rule: 'manta(tables)',
  },

  {
    what: 'a look-up of any name in a table',
    file: 'head/names.ts',
    text: 'const table: Readonly<Record<string, number>> = { a: 1 };\nexport const a = (name: string) => table[name] ?? 0;',
    rule: names,
  },
  {
    what: 'a look-up of any name in a parameter',
    file: 'head/names2.ts',
    text: 'export const a = (map: { readonly [name: string]: number }, name: string) => map[name];',
    rule: names,
  },
  {
    what: 'asking whether any name is in a table',
    file: 'core/names3.ts',
    text: 'export const a = (map: Record<string, number>, name: string) => name in map;',
    rule: names,
  },
  {
    what: 'a look-up of any name in a field that is keyed by names from outside',
    file: 'core/names4.ts',
    text: 'export const a = (job: { resources: Record<string, number> }, name: string) => job.resources[name];',
    rule: names,
  },
  {
    what: 'a look-up of a known name, of a name that the table has, and of an own value',
    file: 'core/names5.ts',
    text: [
      "import { ownValue } from '../base/own-value.ts';",
      'export function sum(map: Record<string, number>, other: string): number {',
      "  let all = (map['a'] ?? 0) + (map[`${other}_b`] ?? 0) + (ownValue(map, other) ?? 0);",
      '  for (const name in map) all += map[name] ?? 0;',
      '  map[other] = all;',
      '  return all;',
      '}',
    ].join('\n'),
  },
  {
    what: 'a look-up in a table whose names are all known',
    file: 'core/names6.ts',
    text: "export const a = (table: Record<'a' | 'b', number>, name: 'a' | 'b') => table[name];",
  },

  {
    what: 'a search in the message of an error',
    file: 'head/said.ts',
    text: "export const a = (error: Error) => error.message.includes('exists');",
    rule: 'manta(prose)',
  },
  {
    what: 'an expression on the message of an error',
    file: 'head/matched.ts',
    text: 'export const a = (error?: Error) => /no space/.test(error?.message ?? error!.message);\nexport const b = (error: Error) => /x/.test(error.message);',
    rule: 'manta(prose)',
  },
  {
    what: 'the text of an event, cut',
    file: 'head/cut.ts',
    text: "export const a = (event: { text: string }) => event.text.split(' ');",
    rule: 'manta(prose)',
  },
  {
    what: 'a message that is compared',
    file: 'head/same.ts',
    text: "export const a = (error: Error) => error.message === 'gone';",
    rule: 'manta(prose)',
  },
  {
    what: 'a message that is shown, or empty',
    file: 'head/shown.ts',
    text: "export const a = (error: Error) => (error.message === '' ? 'none' : error.message.slice(0, 9));",
  },

  {
    what: 'a function of 81 lines',
    file: 'head/long.ts',
    text: `export function a(count: number): number {\n${statements(78)}  return count;\n}`,
    rule: lengths,
  },
  {
    what: 'an arrow function of 81 lines',
    file: 'web/long.ts',
    text: `export const a = (count: number): number => {\n${statements(78)}  return count;\n};`,
    rule: lengths,
  },
  {
    what: 'a method of 81 lines',
    file: 'core/long.ts',
    text: `export class A {\n  b(count: number): number {\n${statements(78)}  return count;\n  }\n}`,
    rule: lengths,
  },
  {
    what: 'a function of 80 lines',
    file: 'head/short.ts',
    text: `export function a(count: number): number {\n${statements(77)}  return count;\n}`,
  },
  {
    what: 'a class with many short methods',
    file: 'head/class.ts',
    text: `export class ManyMethods {\n${Array.from({ length: 50 }, (_, index) => `  a${index}(): number {\n    return 1;\n  }\n`).join('')}}`,
  },

  {
    what: 'a promise that nobody waits for',
    file: 'head/floating.ts',
    text: 'export const a = (): void => { Promise.resolve(1); };',
    rule: 'typescript(no-floating-promises)',
  },
  {
    what: 'a promise taken for a condition',
    file: 'head/misused.ts',
    text: 'export const a = (p: Promise<number>): number => { if (p) return 1; return 2; };',
    rule: 'typescript(no-misused-promises)',
  },
  {
    what: 'a case that a switch forgot',
    file: 'head/switch.ts',
    text: "export const a = (x: 'b' | 'c'): number => { switch (x) { case 'b': return 1; } return 2; };",
    rule: 'typescript(switch-exhaustiveness-check)',
  },
  {
    what: 'throwing what is no error',
    file: 'head/throw.ts',
    text: "export const a = (): never => { throw 'x'; };",
    rule: 'typescript(only-throw-error)',
  },
  {
    what: 'any',
    file: 'head/any.ts',
    text: 'export const a = (x: any): unknown => x;',
    rule: 'typescript(no-explicit-any)',
  },
];

let tree = '';
let findings: ReadonlyMap<string, readonly string[]> = new Map();

before(() => {
  tree = mkdtempSync(join(tmpdir(), 'manta-lint-'));
  for (const name of ['.oxlintrc.json', 'tsconfig.json', 'package.json']) cpSync(join(root, name), join(tree, name));
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'));
  cpSync(join(root, 'scripts', 'lint'), join(tree, 'scripts', 'lint'), { recursive: true });
  for (const { file, text } of cases) {
    mkdirSync(dirname(join(tree, 'src', file)), { recursive: true });
    writeFileSync(join(tree, 'src', file), `${text}\n`);
  }
  findings = lint(tree);
});

after(() => rmSync(tree, { recursive: true }));

function lint(folder: string): Map<string, string[]> {
  const oxlint = join(root, 'node_modules', '.bin', 'oxlint');
  const { stdout, stderr } = spawnSync(oxlint, ['--type-aware', '-f', 'json', 'src'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const found = new Map<string, string[]>();
  let report: { diagnostics: { code: string; filename: string }[] };
  try {
    report = JSON.parse(stdout);
  } catch {
    throw new Error(`oxlint did not report: ${stdout}${stderr}`);
  }
  for (const { code, filename } of report.diagnostics) {
    const file = relative('src', filename);
    found.set(file, [...(found.get(file) ?? []), code]);
  }
  return found;
}

for (const { what, file, rule } of cases) {
  test(`${what} is ${rule === undefined ? 'fine' : 'refused by lint'}`, () => {
    const codes = findings.get(file) ?? [];
    if (rule === undefined) assert.deepEqual(codes, []);
    else assert.ok(codes.includes(rule), `expected ${rule}, found ${codes.join(', ') || 'nothing'}`);
  });
}

test('every layer may import from itself and from those below it, and from none above; the daemon is no library of the commands', () => {
  const outsideTheDaemon = ['cli', 'web', 'launcher'];
  for (const [index, from] of layers.entries()) {
    for (const [other, to] of layers.entries()) {
      const problem = importProblem(`${from}/a.ts`, `../${to}/time/clock.ts`);
      assert.equal(
        problem === undefined,
        other >= index && !(to === 'head' && outsideTheDaemon.includes(from)),
        `${from} -> ${to}: ${problem}`,
      );
    }
  }
});

test('the Ray engine imports nothing of the embedded one', () => {
  assert.notEqual(importProblem('engines/ray/a.ts', '../embedded/engine.ts'), undefined);
  assert.equal(importProblem('engines/ray/a.ts', '../engine.ts'), undefined);
});

test('a long function on the list of exceptions is fine, and an exception that is not needed is refused', () => {
  const lengthsOf = (lines: number): string[] => {
    const said: string[] = [];
    const rule = lengthsRuleExcept(new Map([['head/a.ts: table', 'it reads better whole']])).create({
      filename: '/x/src/head/a.ts',
      sourceCode: { scopeManager: { globalScope: { through: [] } }, getScope: () => assert.fail() },
      report: ({ message }) => void said.push(message),
    });
    const loc = { start: { line: 1 }, end: { line: lines } };
    const node: Node = { type: 'FunctionDeclaration', loc, id: { type: 'Identifier', loc, name: 'table' } };
    rule['FunctionDeclaration']?.(node);
    rule['Program:exit']?.(node);
    return said;
  };
  assert.deepEqual(lengthsOf(81), []);
  assert.match(lengthsOf(80).join(), /take it off the exceptions/);
});
