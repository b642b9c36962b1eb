import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jobErrors } from '../../src/jobs/errors.ts';
import { expandVariables } from '../../src/jobs/packages/env-variables.ts';
import { fc } from '../property.ts';
import { FakeRunner } from './fake-runner.ts';
import { ManualClock } from './manual-clock.ts';
import { makeBed } from './queue-bed.ts';

const base = { HOME: '/h', PATH: '/bin' };

test('variables are expanded as Ray does', () => {
  assert.deepEqual(expandVariables({ A: '${HOME}/x', B: '$PATH:/y', C: '${NOPE}z', D: '$nope', E: '${A}' }, base), {
    A: '/h/x',
    B: '/bin:/y',
    C: 'z',
    D: '$nope',
    E: '/h/x',
  });
});

/** The rule in one expression: short, and quadratic where a brace is never closed. */
function expandByRule(value: string): string {
  const known = new Map(Object.entries(base));
  return value
    .replaceAll(/\$(?:(\w+)|\{([^}]*)\})/g, (whole, a: string | undefined, b: string | undefined) => {
      return known.get(a ?? b ?? '') ?? whole;
    })
    .replaceAll(/\$\{[A-Z0-9_]+\}/g, '');
}

test('any text is expanded as the rule says', () => {
  const piece = fc.constantFrom('$', '{', '}', 'HOME', 'PATH', 'x', ' ', '${HOME}', '$PATH', '${NO}', 'é');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
      const value = pieces.join('');
      assert.equal(expandVariables({ V: value }, base)['V'], expandByRule(value));
    }),
    { numRuns: 3_000 },
  );
});

test('names from the prototype of objects mean nothing', () => {
  const { A } = expandVariables({ A: '$constructor ${toString} $__proto__' }, base);
  assert.equal(A, '$constructor ${toString} $__proto__');
});

test('long values of braces that are never closed do not freeze the head', () => {
  const began = performance.now();
  for (const piece of ['${', '$', '${A', '${}${', '$a${']) {
    const value = piece.repeat(120_000 / piece.length);
    const vars = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`V${i}`, value]));
    assert.equal(expandVariables(vars, base)['V7']?.includes('$'), true);
  }
  // It takes milliseconds; by an expression that looks for the end behind every brace it took minutes.
  assert.ok(performance.now() - began < 30_000);
});

test('variables that name each other do not grow without end', () => {
  const laughs: Record<string, string> = { L0: 'x'.repeat(100) };
  for (let i = 1; i < 12; i++) laughs[`L${i}`] = `$L${i - 1}`.repeat(10);
  assert.throws(() => expandVariables(laughs, base), /runtime_env\['env_vars'\]\['L\d'\] takes more than 131072/);
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`V${i}`, 'x'.repeat(100_000)]));
  assert.throws(() => expandVariables(many, base), /runtime_env\['env_vars'\] take more than 1048576 characters/);
});

test('a job whose variables are too long is refused when it is submitted', async () => {
  const clock = new ManualClock();
  const bed = await makeBed({ clock, runner: new FakeRunner(clock) });
  const submit = (value: string) =>
    bed.queue.submit({ user: 'ada', entrypoint: 'true', runtimeEnv: { env_vars: { V: value } } });
  await assert.rejects(submit('${'.repeat(150_000)), (error) => jobErrors.Invalid.is(error));
  await submit('${'.repeat(50_000));
  await bed.remove();
});
