import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { entryFile, type Program } from '../../../base/entry.ts';
import { makeFolder, moveDurably } from '../../../base/files/durable.ts';
import { type CacheLimits, pruneFolder, touch } from '../../../base/files/prune.ts';
import { version } from '../../../base/version.ts';
import { launcherErrors } from '../../errors.ts';

const run = promisify(execFile);

/** What is put on a head: Manta's programs as one archive, under a name that changes whenever they do. */
export interface Runtime {
  /** `0.1.0-3f2a…`. */
  readonly name: string;
  readonly archive: string;
}

type Env = Readonly<Record<string, string | undefined>>;

const cacheFolder = (env: Env): string => join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'manta', 'runtime');

/** The programs of this Manta; those of a checkout are bundled first. Both are kept for the next time. */
export async function runtimeOf(env: Env, signal: AbortSignal): Promise<Runtime> {
  const cache = makeFolder(cacheFolder(env));
  const { folder, name } = await runtimeFolder(env, signal);
  const archive = join(cache, `${name}.tar.gz`);
  if (!existsSync(archive)) {
    const draft = join(cache, `.${name}.${process.pid}`);
    await run('tar', ['-czf', draft, '--owner=0', '--group=0', '-C', folder, '.'], { signal });
    await moveDurably(draft, archive);
  }
  await keepRecent(cache, folder.startsWith(cache) ? [archive, folder] : [archive]);
  return { name, archive };
}

/** Where the programs are, and what they are called. */
export async function runtimeFolder(
  env: Env,
  signal: AbortSignal,
): Promise<{ readonly folder: string; readonly name: string }> {
  const own = entryFile('mantad');
  const folder = own.endsWith('.ts') ? await bundleOfCheckout(makeFolder(cacheFolder(env)), signal) : dirname(own);
  return { folder, name: `${version}-${digestOf(folder)}` };
}

/** Every version, and every state of a checkout, leaves one. */
const cacheLimits: CacheLimits = { keepBytes: 2 * 2 ** 30, keepFor: 30 * 86_400_000 };

async function keepRecent(cache: string, used: readonly string[]): Promise<void> {
  const now = Date.now();
  try {
    for (const path of used) await touch(path, now);
    await pruneFolder(cache, now, cacheLimits);
  } catch {
    // Another command may prune at the same time; what is left goes the next time.
  }
}

/**
 * A program of this Manta where an update of the package does not reach it: a daemon goes on loading what it was built
 * with, and the version before an upgrade can come back. The programs of a checkout run where they are.
 */
export async function keptProgram(program: Program, home: string): Promise<string> {
  const own = entryFile(program);
  if (own.endsWith('.ts')) return own;
  const folder = dirname(own);
  const kept = join(home, 'runtime', `${version}-${digestOf(folder)}`);
  if (!existsSync(kept)) {
    const draft = mkdtempSync(join(makeFolder(dirname(kept)), '.new-'));
    cpSync(folder, draft, { recursive: true });
    try {
      await moveDurably(draft, kept);
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      if (!existsSync(kept)) throw error;
    }
  }
  return join(kept, `${program}.js`);
}

function digestOf(folder: string): string {
  const hash = createHash('sha256');
  for (const file of globSync('**/*', { cwd: folder }).sort()) {
    const path = join(folder, file);
    if (statSync(path).isFile()) hash.update(`${file}\0`).update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex').slice(0, 12);
}

async function bundleOfCheckout(cache: string, signal: AbortSignal): Promise<string> {
  const root = fileURLToPath(new URL('../../../..', import.meta.url));
  const hash = createHash('sha256');
  for (const file of globSync('{src,scripts}/**/*', { cwd: root }).sort()) {
    const { mtimeMs, size } = statSync(join(root, file));
    hash.update(`${file} ${mtimeMs} ${size}\n`);
  }
  const folder = join(cache, `checkout-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(folder)) return folder;
  const draft = mkdtempSync(join(cache, '.bundle-'));
  try {
    await run(process.execPath, [join(root, 'scripts', 'build.ts'), draft], { signal, cwd: root });
    await moveDurably(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw launcherErrors.NoBundle({ detail: (error as Error).message.slice(0, 500) }, error);
  }
  return folder;
}

/** A Node binary for a machine of this kind (`linux`, `x64`): this one's own, or the one that npm has for it. */
export async function nodeBinary(platform: string, arch: string, env: Env, signal: AbortSignal): Promise<string> {
  if (platform === process.platform && arch === process.arch) return process.execPath;
  const cache = cacheFolder(env);
  const wanted = `node-${platform}-${arch}@${process.versions.node}`;
  const binary = join(cache, wanted, 'package', 'bin', 'node');
  if (existsSync(binary)) return binary;
  makeFolder(cache);
  const draft = mkdtempSync(join(cache, '.node-'));
  try {
    // npm checks the package against the digest of the registry.
    const { stdout } = await run('npm', ['pack', '--silent', wanted], { cwd: draft, signal });
    await run('tar', ['-xzf', join(draft, stdout.trim()), '-C', draft], { signal });
    await moveDurably(draft, join(cache, wanted));
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(binary))
      throw launcherErrors.NoNode({ platform, arch, detail: (error as Error).message.slice(0, 300) }, error);
  }
  return binary;
}
