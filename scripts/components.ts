/**
 * What tests need beside Node: a browser, shells, a library that lies about the time, hosts, real Rays. Installs what is
 * missing where it can, and says what it does; a test that misses something says so itself.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { imageStore } from '../lab/images/build.ts';
import { hostPackages, kubePackages, labProblem, podmanPackages } from '../lab/problem.ts';
import { ensureBoto3 } from './boto3-venv.ts';
import { ensureModels } from './botocore-models.ts';
import { ensureGoogleClient } from './google-client-venv.ts';
import { ensureDiscovery } from './google-discovery.ts';
import { ensureKube } from './kube-build.ts';
import { ensureMoto } from './moto-venv.ts';
import { olderManta, olderVersion } from './older-manta.ts';
import { ensureRay, olderRayVersion, rayVersion } from './ray-venv.ts';
import { ensureSchemathesis } from './schemathesis-venv.ts';
import type { Need } from './test-needs.ts';

interface Package {
  /** Of Debian. */
  readonly name: string;
  readonly need: Need;
  readonly there: () => boolean;
}

const command = (name: string) => (): boolean => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;

const program = (need: Need, name: string, path: string): Package => ({ name, need, there: () => existsSync(path) });

const packages: readonly Package[] = [
  program('chromium', 'chromium', '/usr/bin/chromium'),
  {
    name: 'faketime',
    need: 'faketime',
    there: () => globSync('/usr/lib/*/faketime/libfaketime.so.1').length > 0,
  },
  { name: 'shellcheck', need: 'shellcheck', there: command('shellcheck') },
  { name: 'dash', need: 'posix-shells', there: command('dash') },
  { name: 'busybox', need: 'posix-shells', there: command('busybox') },
  { name: 'strace', need: 'strace', there: command('strace') },
  { name: 'xz-utils', need: 'xz', there: command('xz') },
  { name: 'openssl', need: 'openssl', there: command('openssl') },
  { name: 'util-linux', need: 'mounts', there: command('unshare') },
  { name: 'mount', need: 'mounts', there: command('mount') },
  { name: 'git', need: 'older-manta', there: command('git') },
  { name: 'zsh', need: 'shells', there: command('zsh') },
  { name: 'fish', need: 'shells', there: command('fish') },
  program('sshd', 'openssh-server', '/usr/sbin/sshd'),
  program('sshd', 'openssh-client', '/usr/bin/ssh'),
  program('sshd', 'rsync', '/usr/bin/rsync'),
  ...hostPackages.map((each) => program('hosts', each.name, each.program)),
  ...podmanPackages.map((each) => program('podman', each.name, each.program)),
  ...kubePackages.map((each) => program('kube', each.name, each.program)),
];

/** Which Rays a need asks for. */
const rays: Partial<Record<Need, string>> = {
  'ray-client': rayVersion,
  ray: rayVersion,
  'older-ray': olderRayVersion,
};

/** Installs what these needs ask for and is missing, and nothing else. */
export async function installComponents(needs: ReadonlySet<Need>, say: (line: string) => void): Promise<void> {
  const fetchFor = async (need: Need, ensure: (say: (line: string) => void) => Promise<unknown>): Promise<void> => {
    if (!needs.has(need)) return;
    await ensure(say).catch((error: Error) => say(`      ${need} is not here: ${error.message.split('\n')[0]}`));
  };
  installPackages(needs, say);
  for (const version of new Set([...needs].flatMap((need) => rays[need] ?? []))) {
    try {
      await ensureRay(version, say);
    } catch (error) {
      say(`      Ray ${version} is not here: ${(error as Error).message.split('\n')[0]}`);
    }
  }
  if (needs.has('older-manta')) makeOlderManta(say);
  if (needs.has('podman')) await makeImages(say);
  await fetchFor('schemathesis', ensureSchemathesis);
  await fetchFor('moto', ensureMoto);
  await fetchFor('botocore', ensureModels);
  await fetchFor('google-discovery', ensureDiscovery);
  await fetchFor('boto3', ensureBoto3);
  await fetchFor('google-client', ensureGoogleClient);
  await fetchFor('kube', ensureKube);
}

/** Here, once, and not in each of the files that need it. */
function makeOlderManta(say: (line: string) => void): void {
  try {
    olderManta(say);
  } catch (error) {
    say(`      Manta ${olderVersion} is not here: ${(error as Error).message.split('\n')[0]}`);
  }
}

/** Where hosts cannot be, nobody asks for their images. */
async function makeImages(say: (line: string) => void): Promise<void> {
  if (labProblem('podman') !== undefined) return;
  try {
    await imageStore(say);
  } catch (error) {
    say(`      the images of the lab are not here: ${(error as Error).message.split('\n')[0]}`);
  }
}

function installPackages(needs: ReadonlySet<Need>, say: (line: string) => void): void {
  const missing = packages.filter((each) => needs.has(each.need) && !each.there());
  if (missing.length === 0) return;
  const names = [...new Set(missing.map((each) => each.name))];
  if (process.getuid?.() !== 0 || !command('apt-get')()) {
    say(`      missing, and only root on Debian can install it from here: ${names.join(', ')}`);
    return;
  }
  say(`installing ${names.join(', ')}`);
  const apt = (...args: readonly string[]): boolean =>
    spawnSync('apt-get', args, { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
      .status === 0;
  if (!apt('update', '-q') || !apt('install', '-y', '-q', '--no-install-recommends', ...names))
    say(`      apt-get failed; run 'apt-get install ${names.join(' ')}' to see why`);
}
