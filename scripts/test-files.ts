import { once } from 'node:events';
import { relative } from 'node:path';
import { run } from 'node:test';
import { inspect } from 'node:util';
import type { Skip, Tally } from './test.ts';

/** Longest that one test file may take; only there to end one that hangs. */
const fileDeadline = 20 * 60_000;

/** Runs test files, some at a time, each in a process of its own. */
export async function runTestFiles(
  root: string,
  files: readonly string[],
  say: (line: string) => void,
  concurrency = 2,
): Promise<Tally> {
  let passed = 0;
  let failed = 0;
  const skipped: Skip[] = [];
  const perFile = new Map<string, { passed: number; failed: number }>();
  const shown = (file: string | undefined): string => (file === undefined ? '?' : relative(root, file));
  const count = (file: string | undefined, what: 'passed' | 'failed'): void => {
    const counts = perFile.get(shown(file)) ?? { passed: 0, failed: 0 };
    counts[what]++;
    perFile.set(shown(file), counts);
    if (what === 'passed') passed++;
    else failed++;
  };
  const fail = (file: string | undefined, name: string, why: string): void => {
    count(file, 'failed');
    say(`FAIL  ${shown(file)} > ${name}\n${why.replace(/^/gm, '      ')}`);
  };

  const stream = run({ files: [...files], cwd: root, concurrency, timeout: fileDeadline });
  stream.on('test:pass', ({ name, file, skip, todo, details }) => {
    if (skip !== undefined || todo !== undefined)
      skipped.push({ name: `${shown(file)} > ${name}`, reason: reasonOf(skip ?? todo) });
    else if (details.type === 'suite') return;
    else if (file !== undefined && (name === file || name === shown(file))) fail(file, name, 'has no tests');
    else count(file, 'passed');
  });
  stream.on('test:fail', ({ name, file, details }) => {
    const { error } = details;
    if ('failureType' in error && error.failureType === 'subtestsFailed') return;
    fail(file, name, inspect(error.cause ?? error, { depth: 4 }));
  });
  stream.on('test:stderr', ({ message }) => say(message.trimEnd()));
  stream.on('test:summary', ({ file, duration_ms }) => {
    if (file === undefined) return;
    const counts = perFile.get(shown(file)) ?? { passed: 0, failed: 0 };
    const state = counts.failed > 0 ? 'FAIL ' : 'ok   ';
    say(`${state} ${shown(file)} (${counts.passed} passed, ${(duration_ms / 1000).toFixed(1)} s)`);
  });
  stream.resume();
  await once(stream, 'end');
  return { passed, failed, skipped };
}

const reasonOf = (value: string | boolean | undefined): string =>
  typeof value === 'string' ? value : 'no reason given';
