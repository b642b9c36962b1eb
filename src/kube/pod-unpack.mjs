// Unpacks Manta in a head pod, once for each version of it, and prints where it is.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

const [major = '0'] = process.versions.node.split('.');
if (Number(major) < 24)
  throw new Error(`manta: this image has Node ${process.versions.node}; give --image one with Node 24`);
const home = process.env.MANTA_HOME ?? '/tmp/manta';
const { name, files } = JSON.parse(gunzipSync(readFileSync(new URL('./runtime.json.gz', import.meta.url))).toString());
const folder = join(home, 'runtime', name);
if (!existsSync(folder)) {
  mkdirSync(join(home, 'runtime'), { recursive: true });
  const draft = mkdtempSync(join(home, 'runtime', '.new-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(draft, path)), { recursive: true });
    writeFileSync(join(draft, path), text);
  }
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
}
writeSync(1, folder);
