import assert from 'node:assert/strict';
import { test } from 'node:test';
import { corpus, noCorpus, open } from './cluster-text.ts';

const files = corpus();
const skip = files === undefined ? noCorpus : false;
const verdicts = (files ?? []).map((file) => ({ ...file, ...open(file.bytes.toString()) }));
const errorsOf = (verdict: (typeof verdicts)[number]): string[] =>
  verdict.problems.filter((problem) => problem.severity === 'error').map((problem) => problem.code);
const onlyPlaceholders = (verdict: (typeof verdicts)[number]): boolean =>
  errorsOf(verdict).every((code) => code === 'MANTA_SPEC_PLACEHOLDER');

test('every real file that Ray accepts resolves, with nothing against it but placeholders', { skip }, () => {
  for (const verdict of verdicts.filter(({ ray }) => ray === 'ACCEPT')) {
    assert.ok(verdict.spec, `${verdict.name}: ${errorsOf(verdict).join()}`);
    assert.ok(onlyPlaceholders(verdict), `${verdict.name}: ${errorsOf(verdict).join()}`);
  }
});

/** Files of providers that are gone, of templates with a placeholder for a number, and of a test of unknown keys. */
const beyondHelp = ['MANTA_SPEC_PROVIDER_REMOVED', 'MANTA_SPEC_PLACEHOLDER', 'MANTA_SPEC_UNKNOWN_KEY'];

test('every real legacy file resolves, unless its provider is gone or it was never finished', { skip }, () => {
  const legacy = verdicts.filter(({ era }) => era === 'legacy');
  for (const verdict of legacy.filter(({ spec }) => spec === undefined)) {
    assert.ok(
      errorsOf(verdict).some((code) => beyondHelp.includes(code)),
      `${verdict.name}: ${errorsOf(verdict).join()}`,
    );
  }
  for (const verdict of legacy.filter(({ spec }) => spec !== undefined)) {
    assert.ok(onlyPlaceholders(verdict), `${verdict.name}: ${errorsOf(verdict).join()}`);
  }
});

test('every real file that does not resolve is told why, where and what to do', { skip }, () => {
  for (const { name, spec, problems } of verdicts) {
    if (spec !== undefined) continue;
    assert.ok(
      problems.some((problem) => problem.severity === 'error'),
      name,
    );
    for (const { at, message, hint } of problems) {
      assert.ok(at.line >= 1 && at.column >= 1, name);
      assert.doesNotMatch(message, /undefined|\[object|NaN/, name);
      assert.ok(hint !== undefined && !/undefined|\[object|NaN/.test(hint), `${name}: ${message}: ${hint}`);
    }
  }
});

test('every template that is not YAML yet is recognised, with its placeholders', { skip }, () => {
  for (const { name, problems } of verdicts.filter(({ era }) => era === 'template')) {
    assert.equal(
      problems[0]?.code === 'MANTA_SPEC_TEMPLATE' || problems.some(({ code }) => code === 'MANTA_SPEC_TEMPLATE'),
      true,
      name,
    );
  }
});

test('most real modern files that Ray accepts get two warnings at most', { skip }, () => {
  const modern = verdicts.filter(({ era, ray }) => era === 'modern' && ray === 'ACCEPT');
  const quiet = modern.filter(
    ({ problems }) => problems.filter((problem) => problem.severity === 'warning').length <= 2,
  );
  assert.ok(quiet.length / modern.length > 0.9, `${quiet.length} of ${modern.length}`);
});
