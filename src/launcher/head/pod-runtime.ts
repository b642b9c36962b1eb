import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { runtimeFolder } from './ship/runtime.ts';

/**
 * Manta's programs for a head pod of KubeRay, small enough for a ConfigMap: without what only other clusters need. The same programs
 * give the same bytes.
 */
export async function podRuntime(
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Buffer> {
  const { folder, name } = await runtimeFolder(env, signal);
  const listed = JSON.parse(readFileSync(join(folder, 'kube-files.json'), 'utf8')) as readonly string[];
  const web = globSync('web/**/*', { cwd: folder }).filter((file) => statSync(join(folder, file)).isFile());
  const files = [...listed, ...web, 'package.json']
    .sort()
    .map((file): [string, string] => [file, readFileSync(join(folder, file), 'utf8')]);
  return gzipSync(JSON.stringify({ name, files: Object.fromEntries(files) }), { level: 9 });
}
