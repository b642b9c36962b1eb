import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
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
    legalComments: 'eof',
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
  const files = ['index.html', ...outputs.map(([path]) => relative(out, join(root, path)))];
  return Promise.all(
    files.map(async (path) => {
      const content = await readFile(join(out, path));
      return { path, bytes: content.length, gzipped: gzipSync(content).length };
    }),
  );
}

if (import.meta.main) {
  for (const file of await buildWeb(process.argv[2])) {
    process.stdout.write(`${file.path}  ${file.bytes} bytes, ${file.gzipped} gzipped\n`);
  }
}
