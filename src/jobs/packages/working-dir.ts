import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { type FileToPack, writeZip } from '../../base/archive/archive.ts';
import { endingOf } from './formats.ts';
import { type IgnoreRule, ignoreRule } from './ignore-rules.ts';

/** What Ray leaves out of a working directory unless told otherwise. */
export const defaultExcludes: readonly string[] = ['.git', '.venv', 'venv', '__pycache__'];

export interface PackagingOptions {
  /** Patterns relative to the folder, on top of `.gitignore` and `.rayignore` files in every folder. */
  readonly excludes?: readonly string[];
  /** @default true */
  readonly useGitignore?: boolean;
  /** Keep the folder itself as the top of the archive, as for a Python module. @default false */
  readonly includeParent?: boolean;
}

/** A local folder or file as the package that Ray's client would make of it. */
export interface LocalPackage {
  /** `gcs://_ray_pkg_<hash>` and the ending of its format, or the file name of a wheel. */
  readonly uri: string;
  readonly files: number;
  /** Names that are not packed: links that lead nowhere, sockets, devices. */
  readonly leftOut: readonly string[];
  /** Bytes before packing. */
  readonly size: number;
  /** Writes the archive; the file itself is used when it is an archive already. */
  write(target: string): Promise<string>;
}

/** Packages a folder by Ray's rules; the name is Ray's own hash of its content, so both clients share uploads. */
export async function packageFolder(folder: string, options: PackagingOptions = {}): Promise<LocalPackage> {
  const root = resolve(folder);
  const found = await walk(root, [...(options.excludes ?? [])], options.useGitignore ?? true);
  const hash = Buffer.from('00000000');
  for (const each of found) {
    const digest = await digestOf(each);
    for (let i = 0; i < 8; i++) hash[i] = (hash[i] as number) ^ (digest[i] as number);
  }
  const prefix = options.includeParent ? `${basename(root)}/` : '';
  const files = found.flatMap((each): FileToPack[] => {
    if (each.kind === 'file') return [{ name: prefix + each.name, path: each.path, mode: each.mode }];
    return each.kind === 'empty-folder' && each.name !== '.' ? [{ name: prefix + each.name, mode: each.mode }] : [];
  });
  return {
    uri: `gcs://_ray_pkg_${hash.toString('hex')}.zip`,
    files: files.length,
    leftOut: found.filter((each) => each.kind === 'other').map((each) => each.name),
    size: found.reduce((sum, each) => sum + each.size, 0),
    write: async (target) => {
      await writeZip(files, target);
      return target;
    },
  };
}

/** An archive is named by its content, a wheel by its file name; both are sent as they are. */
export async function packageFile(path: string): Promise<LocalPackage> {
  const { size } = await stat(path);
  const ending = endingOf(path) ?? '.zip';
  // Ray's client has one name for both.
  const shown = ending === '.tgz' ? '.tar.gz' : ending;
  const name = ending === '.whl' ? basename(path) : `_ray_pkg_${await sha1(path)}${shown}`;
  return { uri: `gcs://${name}`, files: 1, leftOut: [], size, write: async () => path };
}

/** A single Python file as a module. */
export async function packageModuleFile(path: string): Promise<LocalPackage> {
  const name = basename(path);
  const { size, mode } = await stat(path);
  const digest = await digestOf({ kind: 'file', name, path, mode, size });
  const hash = Buffer.from('00000000').map((byte, i) => byte ^ (digest[i] as number));
  return {
    uri: `gcs://_ray_pkg_${Buffer.from(hash).toString('hex')}.zip`,
    files: 1,
    leftOut: [],
    size,
    write: async (target) => {
      await writeZip([{ name, path, mode }], target);
      return target;
    },
  };
}

interface Found {
  /** `other`: a broken link or a device; counts for the hash by its name only, and is not packed. */
  readonly kind: 'file' | 'folder' | 'empty-folder' | 'other';
  readonly name: string;
  readonly path: string;
  readonly mode: number;
  readonly size: number;
}

async function walk(root: string, excludes: string[], useGitignore: boolean): Promise<Found[]> {
  const found: Found[] = [];
  const rules: { base: string; ignores: IgnoreRule }[] = [{ base: root, ignores: ignoreRule(excludes) }];

  const visit = async (path: string, above: readonly string[]): Promise<void> => {
    const stats = await stat(path).catch(() => undefined);
    const own = stats?.isDirectory() ? await ignoreFilesIn(path, useGitignore) : [];
    rules.push(...own);
    if (!rules.some((rule) => rule.ignores(relativeName(rule.base, path)))) {
      const name = relativeName(root, path);
      if (!stats?.isDirectory()) found.push(fileAt(path, name, stats));
      else {
        const real = await realpath(path);
        // A link to a folder above itself would be followed forever.
        if (!above.includes(real)) {
          const children = await readdir(path);
          found.push({
            kind: children.length === 0 ? 'empty-folder' : 'folder',
            name,
            path,
            mode: stats.mode,
            size: 0,
          });
          for (const child of children.sort()) await visit(join(path, child), [...above, real]);
        }
      }
    }
    rules.length -= own.length;
  };
  await visit(root, []);
  return found;
}

function fileAt(path: string, name: string, stats: Stats | undefined): Found {
  if (!stats?.isFile()) return { kind: 'other', name, path, mode: 0, size: 0 };
  return { kind: 'file', name, path, mode: stats.mode, size: stats.size };
}

async function ignoreFilesIn(folder: string, useGitignore: boolean): Promise<{ base: string; ignores: IgnoreRule }[]> {
  const names = useGitignore ? ['.gitignore', '.rayignore'] : ['.rayignore'];
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8').catch(() => undefined)));
  return texts.flatMap((text) =>
    text === undefined ? [] : [{ base: folder, ignores: ignoreRule(text.split(/\r?\n/)) }],
  );
}

const relativeName = (base: string, path: string): string => relative(base, path).replaceAll('\\', '/') || '.';

/** SHA-1 over the relative name and, for a file, its content. */
async function digestOf(found: Found): Promise<Buffer> {
  const hash = createHash('sha1').update(found.name);
  if (found.kind === 'file') for await (const chunk of createReadStream(found.path)) hash.update(chunk as Buffer);
  return hash.digest();
}

async function sha1(path: string): Promise<string> {
  const hash = createHash('sha1');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
