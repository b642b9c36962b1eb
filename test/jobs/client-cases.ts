import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ClientCase {
  readonly name: string;
  readonly ok: boolean;
  /** What it found, or what went wrong. */
  readonly value: unknown;
}

export interface ClientOptions {
  readonly python: string;
  /** Who answers: Ray itself, Manta before a Ray, or Manta alone. */
  readonly kind: 'plain' | 'ray' | 'embedded';
  readonly address: string;
  readonly token: string;
  /** For the files of the cases. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `client_cases.py`; rejects where it breaks off. */
export async function clientCases(options: ClientOptions): Promise<ReadonlyMap<string, ClientCase>> {
  const { python, kind, address, token, folder } = options;
  const file = fileURLToPath(new URL('./client_cases.py', import.meta.url));
  const child = spawn(python, [file, kind, address, folder], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      RAY_AUTH_MODE: 'token',
      RAY_AUTH_TOKEN: token,
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let errors = '';
  child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (errors += bytes.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.equal(code, 0, errors);
  const cases = out
    .split('\n')
    .filter((line) => line.startsWith('CASE'))
    .map((line) => JSON.parse(line.slice('CASE'.length)) as ClientCase);
  return new Map(cases.map((each) => [each.name, each]));
}

export function assertCase(cases: ReadonlyMap<string, ClientCase>, name: string): ClientCase {
  const found = cases.get(name);
  assert.ok(found, `${name} was not run`);
  assert.ok(found.ok, String(found.value));
  return found;
}
