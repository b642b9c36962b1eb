import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { rayVersion } from '../../scripts/ray-venv.ts';
import { layOutRay, rayFolder } from '../software.ts';
import { packageFiles, withDependencies } from './packages.ts';
import { addImage, addLayer, type Blob, type ImageConfig } from './store.ts';

/** Images of the lab's registry, by name and tag. The users of `ray-user` are those of Ray's own images. */
export const images = {
  base: 'lab/base:1',
  /** Node 24 beside what `base` has. */
  node: 'lab/node:24',
  ray: `lab/ray:${rayVersion}`,
  rayUser: `lab/ray-user:${rayVersion}`,
};

const basePackages = [
  'bash',
  'coreutils',
  'dash',
  'findutils',
  'grep',
  'sed',
  'tar',
  'gzip',
  'mawk',
  'hostname',
  'login',
  'passwd',
  'util-linux',
  'procps',
  'ncurses-base',
  'libc-bin',
  'base-files',
  'debianutils',
  'python3',
  'rsync',
  'openssh-client',
  'wget',
  'sudo',
  'iproute2',
  'tmux',
  'screen',
  'libstdc++6',
  'libpam-modules',
  'libpam-runtime',
];

/** To be raised when the images are made in another way. */
const recipe = 2;

/**
 * Storage of a registry that holds the images, made of this machine's own packages and of the Ray that its tests use.
 * Made once, in the user's cache folder; two processes may make it at the same time.
 */
export async function imageStore(say: (line: string) => void = () => undefined): Promise<string> {
  const packages = withDependencies(basePackages);
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([recipe, rayVersion, process.version, packages]))
    .digest('hex');
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'manta');
  const store = join(cache, `lab-images-${fingerprint.slice(0, 12)}`);
  if (existsSync(store)) return store;
  say(`making the lab's images in ${store}`);
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, 'lab-images-new-'));
  try {
    await fill(draft, packages);
    renameSync(draft, store);
  } catch (error) {
    if (!existsSync(store)) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return store;
}

async function fill(store: string, packages: readonly string[]): Promise<void> {
  const work = join(store, 'work');
  mkdirSync(work);
  const base = [await packageLayer(store, work, packages), await systemLayer(store, work)];
  const ray = await rayLayer(store, work);
  const node = await nodeLayer(store, work);
  rmSync(work, { recursive: true });
  const system = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const config = (path: string, user?: string): ImageConfig => ({
    Env: [`PATH=${path}`, 'LANG=C.UTF-8'],
    Cmd: ['/bin/bash'],
    WorkingDir: user === undefined ? '/root' : `/home/${user}`,
    ...(user !== undefined && { User: user }),
  });
  const add = (image: string, layers: readonly Blob[], has: ImageConfig): void => {
    const [name, tag] = image.split(':') as [string, string];
    addImage(store, name, tag, layers, has);
  };
  add(images.base, base, config(system));
  add(images.node, [...base, node], config(system));
  add(images.ray, [...base, ray], config(`${rayFolder}/bin:${system}`));
  add(images.rayUser, [...base, ray], config(`${rayFolder}/bin:${system}`, 'ray'));
}

async function packageLayer(store: string, work: string, packages: readonly string[]): Promise<Blob> {
  const archive = join(work, 'packages.tar');
  const files = packageFiles(packages).join('\n');
  run('tar', ['--create', '--file', archive, '--directory', '/', '--no-recursion', '--files-from', '-'], files);
  return addLayer(store, archive);
}

/** What an installer writes. A layer of its own: no path may stand in a layer twice. */
async function systemLayer(store: string, work: string): Promise<Blob> {
  const root = join(work, 'system');
  for (const [folder, mode] of [
    ['tmp', 0o1777],
    ['var/tmp', 0o1777],
    ['root', 0o700],
    ['home/ray', 0o755],
    ['proc', 0o755],
    ['sys', 0o755],
    ['dev', 0o755],
    ['run', 0o755],
    ['mnt', 0o755],
    ['etc/sudoers.d', 0o755],
  ] as const) {
    mkdirSync(join(root, folder), { recursive: true });
    run('chmod', [mode.toString(8), join(root, folder)]);
  }
  const files: Record<string, string> = {
    'etc/passwd':
      'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\nray:x:1000:100::/home/ray:/bin/bash\n',
    'etc/group': 'root:x:0:\ntty:x:5:\nsudo:x:27:ray\nusers:x:100:\nnogroup:x:65534:\n',
    'etc/shadow': 'root:*:19000:0:99999:7:::\nray:*:19000:0:99999:7:::\n',
    'etc/sudoers.d/ray': 'ray ALL=NOPASSWD: ALL\n',
    'etc/profile.d/ray.sh': `[ ! -d ${rayFolder}/bin ] || export PATH=${rayFolder}/bin:$PATH\n`,
    'root/.bashrc': '[ -n "$PS1" ] || return\n',
    'home/ray/.bashrc': '[ -n "$PS1" ] || return\n',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  run('chmod', ['440', join(root, 'etc/sudoers.d/ray')]);
  run('chown', ['-R', '1000:100', join(root, 'home/ray')]);
  const archive = join(work, 'system.tar');
  run('tar', ['--create', '--file', archive, '--directory', root, '--numeric-owner', '.']);
  return addLayer(store, archive);
}

async function nodeLayer(store: string, work: string): Promise<Blob> {
  const archive = join(work, 'node.tar');
  const from = ['--directory', dirname(process.execPath), '--transform=s,^,usr/local/bin/,'];
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  run('tar', ['--create', '--file', archive, '--dereference', ...from, ...owner, basename(process.execPath)]);
  return addLayer(store, archive);
}

async function rayLayer(store: string, work: string): Promise<Blob> {
  const folder = join(work, 'ray', rayFolder);
  const { library } = await layOutRay(rayVersion, folder);
  rmdirSync(join(folder, 'lib'));
  const archive = join(work, 'ray.tar');
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  run('tar', ['--create', '--file', archive, '--directory', join(work, 'ray'), ...owner, '.']);
  const below = rayFolder.slice(1);
  run('tar', [
    '--append',
    '--file',
    archive,
    '--directory',
    join(library, '..'),
    ...owner,
    `--transform=s,^lib,${below}/lib,S`,
    '--exclude=ray/jars',
    'lib',
  ]);
  return addLayer(store, archive);
}

function run(command: string, args: readonly string[], input = ''): void {
  const { status, stderr } = spawnSync(command, args, { input, stdio: ['pipe', 'ignore', 'pipe'] });
  if (status !== 0) throw new Error(`'${command} ${args.join(' ')}' failed: ${stderr.toString().trim().slice(-2000)}`);
}
