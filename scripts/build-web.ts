import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const web = join(root, 'src/web');

export interface BuiltFile {
  /** Relative to the output folder. */
  readonly path: string;
  readonly bytes: number;
  readonly gzipped: number;
}

/**
 * Makes the dashboard page: `index.html` beside `assets/` with names that carry a hash of their content, so that
 * `assets/` may be cached for ever and `index.html` never. All links are relative: the page works under any prefix.
 */
export async function buildWeb(out: string = join(root, 'dist/web')): Promise<readonly BuiltFile[]> {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const result = await build({
    absWorkingDir: root,
    entryPoints: [join(web, 'main.tsx'), join(web, 'styles/page.css'), join(web, 'icon.svg')],
    outdir: join(out, 'assets'),
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome111', 'firefox113', 'safari16.4'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'copy' },
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const outputs = Object.entries(result.metafile.outputs);
  const named = (source: string): string => {
    const found = outputs.find(([, output]) => output.entryPoint?.endsWith(source) === true);
    if (found === undefined) throw new Error(`the build made nothing of ${source}`);
    return `./assets/${basename(found[0])}`;
  };
  const html = (await readFile(join(web, 'index.html'), 'utf8'))
    .replace('{{script}}', named('main.tsx'))
    .replace('{{style}}', named('page.css'))
    .replace('{{icon}}', named('icon.svg'));
  await writeFile(join(out, 'index.html'), html);
  await writeFile(join(out, 'LICENSES.txt'), await licences(Object.keys(result.metafile.inputs)));
  const files = ['index.html', 'LICENSES.txt', ...outputs.map(([path]) => relative(out, join(root, path)))];
  return Promise.all(
    files.map(async (path) => {
      const content = await readFile(join(out, path));
      return { path, bytes: content.length, gzipped: gzipSync(content).length };
    }),
  );
}

/** The terms of every package whose code is part of the page. */
async function licences(inputs: readonly string[]): Promise<string> {
  const names = inputs.flatMap((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []);
  const texts = [...new Set(names)].sort().map(async (name) => {
    const folder = join(root, 'node_modules', name);
    const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${name} has no licence file; find out its terms before shipping it`);
    return `${name}\n\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`;
  });
  return (await Promise.all(texts)).join(`\n${'-'.repeat(80)}\n\n`);
}

if (import.meta.main) {
  for (const file of await buildWeb(process.argv[2])) {
    process.stdout.write(`${file.path}  ${file.bytes} bytes, ${file.gzipped} gzipped\n`);
  }
}
