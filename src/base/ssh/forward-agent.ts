import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { SshTarget } from './target.ts';

/**
 * Whether the user's own SSH configuration forwards the agent to this host. The system's does not count: anyone who gets an
 * agent can sign in as its user everywhere, and a host of a cluster runs the code of others.
 */
export function asksForAgent(target: SshTarget): boolean {
  const file = target.config ?? join(homedir(), '.ssh', 'config');
  if (!mayAsk(file)) return false;
  const words = [
    ...['-G', '-F', file],
    ...(target.user === undefined ? [] : ['-l', target.user]),
    ...(target.port === undefined ? [] : ['-p', String(target.port)]),
    target.address,
  ];
  const key = words.join('\n');
  const known = answers.get(key) ?? askSsh(words);
  answers.set(key, known);
  return known;
}

/** A process reaches a host many times. */
const answers = new Map<string, boolean>();

function askSsh(words: readonly string[]): boolean {
  const { stdout } = spawnSync('ssh', words, { encoding: 'utf8', timeout: 5_000 });
  return /^forwardagent (?!no$)/im.test(stdout ?? '');
}

/** Few do: ssh itself is asked only then. */
function mayAsk(file: string): boolean {
  try {
    return /^[ \t]*(?:ForwardAgent|Include)\b/im.test(readFileSync(file, 'utf8'));
  } catch {
    return false;
  }
}
