import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBoto3 } from '../scripts/boto3-venv.ts';
import { ensureGoogleClient } from '../scripts/google-client-venv.ts';
import { ensureKube } from '../scripts/kube-build.ts';
import { ensureRay, rayVenvName } from '../scripts/ray-venv.ts';
import type { Bind } from './boot.ts';

/** What a host is given beyond what this machine has: where it stands there, and what goes before PATH. */
export interface Software {
  readonly binds: readonly Bind[];
  readonly path: readonly string[];
  /** Folder of packages that every Python finds. */
  readonly python?: string;
}

export const rayFolder = '/opt/ray';

/** The Node that runs this. */
export const nodeSoftware: Software = {
  binds: [{ source: realpathSync(process.execPath), target: '/opt/node/bin/node' }],
  path: ['/opt/node/bin'],
};

/** Packages that Ray's own launcher needs for AWS. */
export const boto3Software = async (): Promise<Software> => packagesAt('/opt/boto3', await ensureBoto3(() => {}));

/** Packages that Ray's own launcher needs for Google Cloud. */
export const googleClientSoftware = async (): Promise<Software> =>
  packagesAt('/opt/google-client', await ensureGoogleClient(() => {}));

const packagesAt = (target: string, source: string): Software => ({
  binds: [{ source, target }],
  path: [],
  python: target,
});

/** Kubernetes and KubeRay, and what starts them. */
export async function kubeSoftware(): Promise<Software> {
  return {
    binds: [
      { source: await ensureKube(() => {}), target: '/opt/kube' },
      { source: fileURLToPath(new URL('kube', import.meta.url)), target: '/opt/kube-lab' },
    ],
    path: ['/opt/kube'],
  };
}

/** Ray as every user of a host finds it at `/opt/ray`. Its library is that of this machine, shared. */
export async function raySoftware(version: string, folder: string): Promise<Software> {
  const { library } = await layOutRay(version, folder);
  return {
    binds: [
      { source: folder, target: rayFolder },
      { source: library, target: `${rayFolder}/lib` },
    ],
    path: [`${rayFolder}/bin`],
  };
}

/**
 * Writes what a virtual environment with Ray has beside its library, for its new place: its programs name their Python by
 * path. It runs on the system's own Python of the same version.
 */
export async function layOutRay(version: string, folder: string): Promise<{ readonly library: string }> {
  const venv = await rayVenv(version);
  const library = globSync('lib/python3.*', { cwd: venv })[0];
  if (library === undefined) throw new Error(`${venv} is not a virtual environment`);
  const python = `/usr/bin/${library.slice('lib/'.length)}`;
  if (!existsSync(python)) throw new Error(`Ray in ${venv} is for ${python}, which is not here`);
  if (!existsSync(join(folder, 'pyvenv.cfg'))) layOut(venv, python, folder);
  return { library: join(venv, 'lib') };
}

/** Importing Ray to see whether it is whole takes longer than a lab takes to come up; an installed one is taken as it is. */
async function rayVenv(version: string): Promise<string> {
  const cached = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'manta', rayVenvName(version));
  if (globSync(`lib/python3.*/site-packages/ray-${version}.dist-info/RECORD`, { cwd: cached }).length > 0)
    return cached;
  return dirname(dirname(await ensureRay(version)));
}

function layOut(venv: string, python: string, folder: string): void {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, 'lib'), { recursive: true });
  for (const name of ['python', 'python3', python.slice('/usr/bin/'.length)])
    if (!existsSync(join(folder, 'bin', name))) symlinkSync(python, join(folder, 'bin', name));
  for (const { name } of readdirSync(join(venv, 'bin'), { withFileTypes: true }).filter((entry) => entry.isFile())) {
    const content = readFileSync(join(venv, 'bin', name), 'latin1');
    const moved = content.replace(/^#!\S*\/bin\/(python\S*)/, `#!${rayFolder}/bin/$1`).replaceAll(venv, rayFolder);
    const mode = moved.startsWith('#!') || content.startsWith('\x7fELF') ? 0o755 : 0o644;
    writeFileSync(join(folder, 'bin', name), moved, { encoding: 'latin1', mode });
  }
  // Written last: where it is, the rest is whole, and may be in use.
  writeFileSync(
    join(folder, 'pyvenv.cfg'),
    `home = /usr/bin\ninclude-system-site-packages = false\nexecutable = ${python}\n`,
  );
}
