import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { promisify } from 'node:util';
import { sshArguments } from './arguments.ts';
import type { SshTarget } from './target.ts';

const run = promisify(execFile);

/** The keys that ssh had to offer, for a user who was refused: files that exist, and how many the agent holds. */
export async function offeredKeys(client: string, target: SshTarget): Promise<string[]> {
  const [config, agent] = await Promise.all([
    output(client, ['-G', ...sshArguments(target), '--', target.address]),
    output('ssh-add', ['-l']),
  ]);
  const files = [...config.matchAll(/^identityfile (.+)$/gm)]
    .map((found) => (found[1] ?? '').replace(/^~(?=\/)/, homedir()))
    .filter((file) => existsSync(file));
  const held = agent.split('\n').filter((line) => /SHA256:/.test(line)).length;
  return [...files, ...(held > 0 && target.key === undefined ? [`${held} from the agent`] : [])];
}

async function output(program: string, words: readonly string[]): Promise<string> {
  try {
    return (await run(program, words, { timeout: 5_000 })).stdout;
  } catch {
    return '';
  }
}
