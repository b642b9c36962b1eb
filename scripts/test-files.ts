import { once } from 'node:events';
import { run } from 'node:test';
import { inspect } from 'node:util';
import type { Skip, Tally } from './test-jobs.ts';

/** Longest that one test file may take; only there to end one that hangs. */
const fileDeadline = 20 * 60_000;

/** Runs a test file in a process of its own. What it runs of other files counts as its own. */
export async function runTestFile(root: string, file: string, say: (line: string) => void): Promise<Tally> {
  let passed = 0;
  let failed = 0;
  const skipped: Skip[] = [];
  const fail = (name: string, why: string): void => {
    failed++;
    say(`FAIL  ${file} > ${name}\n${why.replace(/^/gm, '      ')}`);
  };
  const stream = run({ files: [file], cwd: root, concurrency: 1, timeout: fileDeadline });
  stream.on('test:pass', ({ name, file: where, skip, todo, details }) => {
    if (skip !== undefined || todo !== undefined)
      skipped.push({ name: `${file} > ${name}`, reason: reasonOf(skip ?? todo) });
    else if (details.type === 'suite') return;
    else if (name === file || name === where) fail(name, 'has no tests');
    else passed++;
  });
  stream.on('test:fail', ({ name, details }) => {
    const { error } = details;
    if ('failureType' in error && error.failureType === 'subtestsFailed') return;
    fail(name, inspect(error.cause ?? error, { depth: 4 }));
  });
  stream.on('test:stderr', ({ message }) => say(message.trimEnd()));
  stream.resume();
  await once(stream, 'end');
  return { passed, failed, skipped };
}

const reasonOf = (value: string | boolean | undefined): string =>
  typeof value === 'string' ? value : 'no reason given';
