import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** A wheel that needs no network: one module that says something. */
export async function makeWheel(folder: string, says = 'spoken'): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'spoken-1.0-py3-none-any.whl');
  const zip = new ZipFile();
  const add = (name: string, text: string): void => zip.addBuffer(Buffer.from(text), name);
  add('spoken.py', `print("${says}")\n`);
  add('spoken-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\nName: spoken\nVersion: 1.0\n');
  add('spoken-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n');
  add('spoken-1.0.dist-info/RECORD', 'spoken.py,,\n');
  zip.end();
  await finished(zip.outputStream.pipe(createWriteStream(file)));
  return file;
}
