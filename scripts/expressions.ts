/**
 * Finds regular expressions that take more than linear time for some text, in all of src/ or in the files named. A check of
 * `npm run check`; what is exempt, and why, stands in scripts/expressions/exempt.ts.
 */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { exempt, madeAtRunTime } from './expressions/exempt.ts';
import { type Expression, expressionsIn } from './expressions/find.ts';

const require = createRequire(import.meta.url);
// The program that recheck brings for this machine, otherwise its JavaScript, which is slower; never the one for Java.
process.env['RECHECK_BACKEND'] = ownProgram() ? 'native' : 'pure';
const { check } = await import('recheck');
const { version } = require('recheck/package.json') as { version: string };

/** Verdicts of former runs: only what is new is looked at. */
const memoryFile = fileURLToPath(new URL('../.cache/expressions.json', import.meta.url));
/** For one expression; one that takes longer has to be simpler. */
const patience = 60_000;

const root = fileURLToPath(new URL('..', import.meta.url));
const named = process.argv.slice(2);
process.chdir(root);
const files = named.length > 0 ? named : globSync('src/**/*.{ts,tsx}').toSorted();
const found = files.map((file) => ({ file, ...expressionsIn(file, readFileSync(file, 'utf8')) }));
const literals = Map.groupBy(
  found.flatMap((each) => each.literals),
  ({ source, flags }) => `/${source}/${flags}`,
);

const remembered = readMemory();
const verdicts = new Map<string, string>();
const todo = [...literals].filter(([text]) => !Object.hasOwn(exempt, text));
await Promise.all(
  Array.from({ length: availableParallelism() }, async () => {
    for (let next = todo.pop(); next; next = todo.pop()) {
      const [text, [first]] = next as [string, [Expression]];
      verdicts.set(text, remembered.get(text) ?? (await judge(first)));
    }
  }),
);

const problems = [...verdicts].flatMap(([text, verdict]) =>
  verdict === 'linear'
    ? []
    : (literals.get(text) ?? []).map(({ place }) => `${place}: ${text}\n    takes more than linear time: ${verdict}`),
);
for (const { file, made } of found)
  if (!Object.hasOwn(madeAtRunTime, file))
    problems.push(...made.map((place) => `${place}: makes an expression from text, and no reason says why it is safe`));
if (named.length === 0) {
  writeMemory();
  const makers = new Set(found.flatMap(({ file, made }) => (made.length > 0 ? [file] : [])));
  const unused = [
    ...Object.keys(exempt).filter((text) => !literals.has(text)),
    ...Object.keys(madeAtRunTime).filter((file) => !makers.has(file)),
  ];
  problems.push(...unused.map((entry) => `scripts/expressions/exempt.ts: nothing needs the entry ${entry}`));
}
for (const problem of problems.toSorted()) process.stdout.write(`${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);

async function judge({ source, flags }: Expression): Promise<string> {
  const result = await check(source, flags, { timeout: patience, incubationTimeout: 1_000, attackTimeout: 1_000 });
  if (result.status === 'safe') return 'linear';
  if (result.status === 'vulnerable') {
    // What was found by trying is an estimate; what was computed is certain.
    if (result.checker === 'fuzz' && !isSlow(source, flags, result.attack.string)) return 'linear';
    return `${result.complexity.summary}, for example on ${result.attack.pattern}`;
  }
  return `recheck could not say (${result.error.kind})`;
}

/** Whether V8 needs long for what recheck takes for an attack: texts on which a quadratic expression takes half a second. */
function isSlow(source: string, flags: string, attack: string): boolean {
  const began = process.cpuUsage();
  try {
    runInNewContext('text.match(new RegExp(source, flags))', { text: attack, source, flags }, { timeout: 10_000 });
  } catch {
    return true;
  }
  return process.cpuUsage(began).user > 100_000;
}

function readMemory(): Map<string, string> {
  try {
    const kept = JSON.parse(readFileSync(memoryFile, 'utf8')) as { version: string; linear: string[] };
    return new Map(kept.version === version ? kept.linear.map((text) => [text, 'linear']) : []);
  } catch {
    return new Map();
  }
}

function writeMemory(): void {
  const linear = [...verdicts].flatMap(([text, verdict]) => (verdict === 'linear' ? [text] : []));
  mkdirSync(dirname(memoryFile), { recursive: true });
  writeFileSync(memoryFile, JSON.stringify({ version, linear }));
}

function ownProgram(): boolean {
  const systems = new Map([
    ['linux', 'linux'],
    ['darwin', 'macos'],
  ]);
  try {
    return require.resolve(`recheck-${systems.get(process.platform)}-${process.arch}/package.json`) !== '';
  } catch {
    return false;
  }
}
