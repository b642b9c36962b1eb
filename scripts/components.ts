/**
 * What the tests need beside Node: a browser, shells, a library that lies about the time, hosts, and real Rays. Installs what
 * is missing where it can, and says what it does; a test that misses something says so itself.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { imageStore } from '../lab/images/build.ts';
import { labPackages, labProblem } from '../lab/problem.ts';
import { ensureRay, olderRayVersion, rayVersion } from './ray-venv.ts';

interface Package {
  /** Of Debian. */
  readonly name: string;
  readonly for: string;
  readonly there: () => boolean;
}

const command = (name: string) => (): boolean => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;

const packages: readonly Package[] = [
  { name: 'chromium', for: 'the page', there: () => existsSync('/usr/bin/chromium') },
  {
    name: 'faketime',
    for: 'clocks that jump',
    there: () => globSync('/usr/lib/*/faketime/libfaketime.so.1').length > 0,
  },
  { name: 'shellcheck', for: 'programs for hosts', there: command('shellcheck') },
  { name: 'strace', for: 'what a power cut may lose', there: command('strace') },
  { name: 'zsh', for: 'its completion', there: command('zsh') },
  { name: 'fish', for: 'its completion', there: command('fish') },
  ...labPackages.map(({ name, program, for: purpose }) => ({ name, for: purpose, there: () => existsSync(program) })),
];

export async function installComponents(say: (line: string) => void): Promise<void> {
  installPackages(say);
  for (const version of [rayVersion, olderRayVersion]) {
    try {
      await ensureRay(version, say);
    } catch (error) {
      say(`      Ray ${version} is not here: ${(error as Error).message.split('\n')[0]}`);
    }
  }
  await makeImages(say);
}

/** Where hosts cannot be, nobody asks for their images. */
async function makeImages(say: (line: string) => void): Promise<void> {
  if (labProblem() !== undefined) return;
  try {
    await imageStore(say);
  } catch (error) {
    say(`      the images of the lab are not here: ${(error as Error).message.split('\n')[0]}`);
  }
}

function installPackages(say: (line: string) => void): void {
  const missing = packages.filter((each) => !each.there());
  if (missing.length === 0) return;
  const names = missing.map((each) => each.name);
  if (process.getuid?.() !== 0 || !command('apt-get')()) {
    say(`      missing, and only root on Debian can install it from here: ${names.join(', ')}`);
    return;
  }
  say(`installing ${missing.map((each) => `${each.name} (for ${each.for})`).join(', ')}`);
  const apt = (...args: readonly string[]): boolean =>
    spawnSync('apt-get', args, { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
      .status === 0;
  if (!apt('update', '-q') || !apt('install', '-y', '-q', '--no-install-recommends', ...names))
    say(`      apt-get failed; run 'apt-get install ${names.join(' ')}' to see why`);
}
