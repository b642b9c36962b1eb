/** Makes `dist/`, or the folder given, what the package ships: a small entry and chunks that load on demand. `npm run build`. */
import { cpSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile, Plugin } from 'esbuild';
import { build as bundle } from 'esbuild';
import { shellText } from '../src/base/shell/shell-file.ts';
import { buildWeb } from './build-web.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Bundles into `outdir`; returns what esbuild knows of each chunk. */
export async function buildBundle(outdir: string): Promise<Metafile> {
  rmSync(outdir, { recursive: true, force: true });
  const { metafile } = await bundle({
    absWorkingDir: root,
    entryPoints: {
      manta: 'src/cli/start.ts',
      mantad: 'src/head/mantad.ts',
      supervisor: 'src/head/supervisor.ts',
      agent: 'src/engines/embedded/agent/main.ts',
      raylet: 'src/head/one-machine/raylet.ts',
      'kube-exec': 'src/cli/kube-exec.ts',
      kube: 'src/head/kube/start.ts',
    },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    chunkNames: 'chunks/[name]-[hash]',
    minifySyntax: true,
    minifyWhitespace: true,
    // Names stay as they are, so that a reported fault can be read.
    minifyIdentifiers: false,
    legalComments: 'none',
    metafile: true,
    plugins: [shellTexts, kubeConfigAlone],
    logLevel: 'warning',
    // Packages in CommonJS form call `require`, which ESM output does not have.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  });
  // Programs in Python are run by path, beside the chunk that runs them.
  for (const script of globSync('src/**/*.py', { cwd: root }))
    cpSync(join(root, script), join(outdir, 'chunks', basename(script)));
  writeFileSync(join(outdir, 'kube-files.json'), `${JSON.stringify(podFiles(metafile, outdir))}\n`);
  writeFileSync(join(outdir, 'THIRD-PARTY-LICENSES.txt'), licences(metafile));
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, string>;
  writeFileSync(join(outdir, 'package.json'), `${JSON.stringify({ name, version, type: 'module' })}\n`);
  return metafile;
}

/** Of programs that are loaded when they are needed, those that a head pod of KubeRay needs. */
const ofPods = new Set(['src/head/supervisor.ts', 'src/head/mantad.ts', 'src/head/kube/kube-backend.ts']);

/** The files of a head pod: `src/launcher/head/pod-runtime.ts` puts them there. */
function podFiles({ outputs }: Metafile, outdir: string): readonly string[] {
  const entries = ['src/head/kube/start.ts', 'src/head/mantad.ts'];
  const open = Object.keys(outputs).filter((path) => entries.includes(outputs[path]?.entryPoint ?? ''));
  const found = new Set<string>();
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    for (const { path: next, kind, external } of outputs[path]?.imports ?? [])
      if (external !== true && (kind === 'import-statement' || ofPods.has(outputs[next]?.entryPoint ?? '')))
        open.push(next);
  }
  return [...found].map((path) => relative(outdir, join(root, path))).sort();
}

/** Puts the text of a shell file in the place of the call that reads it: see `src/base/shell/shell-file.ts`. */
const shellTexts: Plugin = {
  name: 'shell-texts',
  setup(build) {
    const problem = equalNames(shellFiles());
    build.onStart(() => (problem === undefined ? {} : { errors: [{ text: problem }] }));
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (path.endsWith('/shell-file.ts') || !/\bread(?:Shell|Script)\(/.test(source)) return undefined;
      const beside = (file: string): string => readFileSync(join(dirname(path), file), 'utf8');
      const contents = source
        .replaceAll(/\breadShell\(new URL\('([^']+\.(?:sh|bash))', import\.meta\.url\)\)/g, (_, file: string) =>
          JSON.stringify(shellText(beside(file))),
        )
        .replaceAll(/\breadScript\(new URL\('([^']+)', import\.meta\.url\)\)/g, (_, file: string) =>
          JSON.stringify(beside(file)),
        );
      if (/\bread(?:Shell|Script)\(/.test(contents))
        return {
          errors: [{ text: "write it as readShell(new URL('./NAME.sh', import.meta.url))", location: { file: path } }],
        };
      return { contents, loader: 'ts' };
    });
  },
};

/**
 * Of the client of Kubernetes, only what reads kubeconfigs and logs in. The rest, classes made from the API and another
 * HTTP client, is for `makeApiClient` and `applySecurityAuthentication`, which nobody here calls.
 */
const kubeConfigAlone: Plugin = {
  name: 'kube-config-alone',
  setup(build) {
    const config = join(root, 'node_modules/@kubernetes/client-node/dist/config.js');
    const unused = 'createConfiguration, ServerConfiguration, setHeaderMiddleware, Agent, ProxyAgent';
    build.onResolve({ filter: /^@kubernetes\/client-node$/ }, () => ({ path: config }));
    build.onResolve({ filter: /^(?:undici|\.\/gen\/index\.js|\.\/middleware\.js)$/ }, ({ path, importer }) =>
      importer === config ? { path, namespace: 'unused' } : undefined,
    );
    build.onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: `export let ${unused};` }));
  },
};

/** Programs for hosts, from the root of the repository. */
export const shellFiles = (): readonly string[] => globSync('src/**/*.{sh,bash}', { cwd: root }).sort();

/** A program is known by the name of its file alone: in a chunk, in a stack trace, on a host. */
export function equalNames(files: readonly string[]): string | undefined {
  const byName = Map.groupBy(files, (file) => basename(file).replace(/\.\w+$/, ''));
  const equal = [...byName.values()].find((each) => each.length > 1);
  return equal && `two programs have the same name: ${equal.join(' and ')}; rename one of them`;
}

/** Packages that name their terms and carry no file with them. */
const byTermsAlone: ReadonlySet<string> = new Set([
  '@aws-sdk/credential-provider-http',
  '@aws-sdk/credential-provider-login',
  '@aws-sdk/nested-clients',
  '@bufbuild/protobuf',
  'data-uri-to-buffer',
]);

/** The licence of every package that is part of the bundle. */
function licences(metafile: Metafile): string {
  const folders = new Set(
    Object.keys(metafile.inputs).flatMap((input) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
  );
  const parts = [...folders].sort().map((name) => {
    const folder = join(root, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
      string,
      string
    >;
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined && !byTermsAlone.has(name))
      throw new Error(`${name} has no licence file; find out its terms before shipping it`);
    if (file === undefined) return `${name} ${version} (${license}; its package has no licence file of its own)\n`;
    return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  });
  return parts.length === 0 ? 'This package contains no third-party code.\n' : parts.join(`\n${'-'.repeat(80)}\n\n`);
}

if (import.meta.main) {
  const outdir = process.argv[2] ?? join(root, 'dist');
  const { outputs } = await buildBundle(outdir);
  await buildWeb(join(outdir, 'web'));
  for (const [path, { bytes }] of Object.entries(outputs))
    process.stdout.write(`${String(bytes).padStart(9)}  ${path}\n`);
}
