/**
 * What a test file needs stands in its first lines, `// needs: ray, hosts`, and decides which command runs it. A file that
 * says nothing needs nothing. What tests share (a lab, a browser) says so too, and whoever uses it must repeat it.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Commands that run tests: `npm run test:unit`, `npm test`, `npm run test:lab`, and `npm run soak -- NAME`. */
export type Tier = 'unit' | 'test' | 'lab' | 'soak';

/** Every word that a file may declare, with the first command that provides it; what each means is in CONTRIBUTING.md. */
const tiers = {
  cluster: 'test',
  sshd: 'test',
  shells: 'test',
  shellcheck: 'test',
  'posix-shells': 'test',
  strace: 'test',
  xz: 'test',
  openssl: 'test',
  mounts: 'test',
  faketime: 'test',
  chromium: 'test',
  'ray-client': 'test',
  botocore: 'test',
  'google-discovery': 'test',
  'older-ray': 'lab',
  'older-manta': 'lab',
  schemathesis: 'lab',
  moto: 'lab',
  boto3: 'lab',
  'google-client': 'lab',
  ray: 'lab',
  hosts: 'lab',
  podman: 'lab',
  kube: 'lab',
  soak: 'soak',
} as const satisfies Readonly<Record<string, Tier>>;

export type Need = keyof typeof tiers;
export const allNeeds = Object.keys(tiers) as readonly Need[];

/** The one path through the lab that `npm test` walks, whatever it needs. */
const labPath = 'test/lab/path.test.ts';

/** One word gives what another does. */
const covers: Partial<Record<Need, readonly Need[]>> = { ray: ['ray-client'], 'older-ray': ['ray-client'] };

/** Uses that no import shows: what a file asks for in hosts of a lab, and of versions of Ray. */
const signs: readonly { readonly need: Need; readonly sign: RegExp; readonly beside?: Need }[] = [
  { need: 'ray', sign: /\bray: true\b/, beside: 'hosts' },
  { need: 'podman', sign: /\bpodman: true\b/, beside: 'hosts' },
  { need: 'boto3', sign: /\bboto3: true\b/, beside: 'hosts' },
  { need: 'google-client', sign: /\bgoogleClient: true\b/, beside: 'hosts' },
  { need: 'older-ray', sign: /\bolderRayVersion\b.*ray-venv/ },
];

const root = fileURLToPath(new URL('..', import.meta.url));

export interface TestFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly needs: readonly Need[];
  readonly tier: Tier;
}

/** Every test file of a folder, with what is wrong with their declarations: one sentence each, which says what to write. */
export function findTestFiles(folder: string = root): {
  readonly files: readonly TestFile[];
  readonly problems: readonly string[];
} {
  const problems: string[] = [];
  const files = globSync('test/**/*.test.ts', { cwd: folder })
    .sort()
    .map((path) => describeTestFile(join(folder, path), folder, problems));
  for (const path of globSync('{test,lab}/**/*.ts', { cwd: folder }).sort())
    if (!path.endsWith('.test.ts')) describeTestFile(join(folder, path), folder, problems);
  return { files, problems };
}

export function describeTestFile(file: string, folder: string = root, problems: string[] = []): TestFile {
  const path = relative(folder, file);
  const { line, needs, unknown } = readNeeds(file);
  for (const word of unknown) problems.push(`${path}: '${word}' is not a need; there are ${allNeeds.join(', ')}`);
  const used = path.endsWith('.test.ts') ? usedNeeds(file, folder) : new Map<Need, string>();
  const covered = (need: Need, by: Iterable<Need>): boolean => [...by].some((other) => covers[other]?.includes(need));
  const missing = [...used.keys()].filter(
    (need) => !needs.includes(need) && !covered(need, [...needs, ...used.keys()]),
  );
  if (missing.length > 0) {
    const whole = allNeeds.filter((need) => needs.includes(need) || missing.includes(need)).join(', ');
    const why = missing.map((need) => `${need} (by ${used.get(need)})`).join(', ');
    const change = line === undefined ? 'add the first line' : 'change its line to';
    problems.push(`${path}: needs ${why} and does not declare it; ${change} '// needs: ${whole}'`);
  }
  const tier = path === labPath ? 'test' : highest(needs.map((need) => tiers[need]));
  return { path, needs, tier };
}

const order: readonly Tier[] = ['unit', 'test', 'lab', 'soak'];
const highest = (all: readonly Tier[]): Tier => order[Math.max(0, ...all.map((tier) => order.indexOf(tier)))]!;

interface Declared {
  readonly line: string | undefined;
  readonly needs: readonly Need[];
  readonly unknown: readonly string[];
}

/** What the head of a file says, without loading it. */
function readNeeds(file: string): Declared {
  const line = textOf(file)
    .split('\n', 5)
    .find((each) => each.startsWith('// needs:'));
  const given = (line?.slice('// needs:'.length) ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const known = (word: string): word is Need => Object.hasOwn(tiers, word);
  return { line, needs: given.filter(known), unknown: given.filter((word) => !known(word)) };
}

/** What the files that it loads or starts declare, and where; a declaration speaks for all that is below it. */
function usedNeeds(file: string, folder: string): ReadonlyMap<Need, string> {
  const found = new Map<Need, string>();
  const use = (need: Need, where: string): void => void found.set(need, found.get(need) ?? relative(folder, where));
  const seen = new Set([file]);
  for (const each of seen) {
    if (each !== file) {
      const { line, needs } = readNeeds(each);
      for (const need of needs) use(need, each);
      if (line !== undefined) continue;
    }
    for (const other of namedFiles(each))
      if (/^(?:test|lab|scripts\/(?:ray|schemathesis|moto|botocore|boto3|google|kube)-)/.test(relative(folder, other)))
        seen.add(other);
  }
  for (const each of seen)
    for (const { need, sign, beside } of signs)
      if (
        relative(folder, each).startsWith('test/') &&
        (beside === undefined || found.has(beside)) &&
        sign.test(textOf(each))
      )
        use(need, each);
  return found;
}

/** Files that a file imports, but for their types, or names to start them. */
function namedFiles(file: string): string[] {
  const text = textOf(file).replace(/^(?:import|export) type [^;]*;$/gm, '');
  return [...text.matchAll(/'(\.{1,2}\/[^'\n]+\.ts)'/g)]
    .map(([, path]) => resolve(dirname(file), path!))
    .filter((path) => existsSync(path));
}

const texts = new Map<string, string>();

function textOf(file: string): string {
  const known = texts.get(file) ?? readFileSync(file, 'utf8');
  texts.set(file, known);
  return known;
}
