import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Command, defineCommand, type Option, type Run } from '../../src/cli/command.ts';
import type { OptionValues } from '../../src/cli/option-values.ts';
import { parse } from '../../src/cli/parse/parse.ts';

const options = [
  { name: 'yes', short: 'y', summary: 'a switch' },
  { name: 'login-shells', off: 'normal-shells', summary: 'a switch with an opposite' },
  { name: 'run-env', value: 'WHERE', choices: ['host', 'docker'], default: 'host', summary: 'one of some words' },
  { name: 'engine', value: 'ENGINE', choices: ['embedded', 'ray'], summary: 'the same, without a default' },
  { name: 'max-workers', value: 'N', type: 'integer', summary: 'a number' },
  { name: 'lines', value: 'N', type: 'integer', default: 100, summary: 'a number with a default' },
  { name: 'port', value: 'PORT', type: 'integer', many: true, summary: 'numbers' },
  { name: 'label', value: 'TEXT', many: true, summary: 'texts' },
  { name: 'node-ip', value: 'ADDRESS', summary: 'a text' },
] as const satisfies readonly Option[];

type Values = OptionValues<typeof options>;

/** What the declarations above must come to; the compiler holds one to the other in both directions. */
interface Expected {
  readonly yes: boolean;
  readonly loginShells: boolean;
  readonly runEnv: 'host' | 'docker';
  readonly engine?: 'embedded' | 'ray';
  readonly maxWorkers?: number;
  readonly lines: number;
  readonly port?: readonly number[];
  readonly label?: readonly string[];
  readonly nodeIp?: string;
}
const toExpected = (values: Values): Expected => values;
const toValues = (values: Expected): Values => values;

test('the values of options have the types of their declarations', async () => {
  const none: Expected = { yes: false, loginShells: true, runEnv: 'host', lines: 100 };
  const all: Expected = {
    yes: true,
    loginShells: false,
    runEnv: 'docker',
    engine: 'ray',
    maxWorkers: 3,
    lines: 7,
    port: [1, 2],
    label: ['a', '3'],
    nodeIp: '10.0.0.1',
  };
  const given: Values[] = [];
  const run: Run<typeof options> = async (invocation) => given.push(toValues(toExpected(invocation.options)));
  const table: Command[] = [
    defineCommand({ path: ['try'], summary: 'a command', args: [], options, load: async () => ({ run }) }),
  ];
  const words =
    'try -y --normal-shells --run-env docker --engine ray --max-workers 3 --lines 7 --port 1 --port 2 --label a --label 3 --node-ip 10.0.0.1';
  for (const line of ['try', words]) {
    const parsed = parse(line.split(' '), table);
    assert.equal(parsed.kind, 'run');
    await (await parsed.command.load()).run(parsed.invocation, undefined as never);
  }
  assert.deepEqual(given, [none, all]);
});

test('what is not declared does not compile', () => {
  // Never called: each line is refused by the compiler, which complains where it is not.
  const wrong = (values: Values): unknown[] => [
    // @ts-expect-error there is no such option
    values.keepState,
    // @ts-expect-error it is known by its name in camel case
    values['max-workers'],
    // @ts-expect-error not one of its words
    values.runEnv === 'podman',
    // @ts-expect-error it may be missing
    values.maxWorkers + 1,
    // @ts-expect-error numbers, not texts
    values.port?.[0]?.length,
  ];
  assert.equal(typeof wrong, 'function');
  const run: Run<readonly [{ name: 'node-id'; value: 'ID'; summary: ''; default: '' }]> = async () => 0;
  const declared = { path: ['try'], summary: 'a command', args: [] };
  // @ts-expect-error the code takes an option that the command does not have
  assert.ok(defineCommand({ ...declared, options, load: async () => ({ run }) }));
});
