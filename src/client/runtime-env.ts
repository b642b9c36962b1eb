import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import type { EventSink } from '../base/events.ts';
import { archiveEndings, endingOf, moduleEndings } from '../jobs/packages/formats.ts';
import type { LocalPackage } from '../jobs/packages/working-dir.ts';
import { clientErrors } from './errors.ts';
import { clientEvents } from './events.ts';
import type { HttpClient } from './http.ts';

export interface UploadContext {
  readonly http: HttpClient;
  readonly events: EventSink;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Relative paths start here. */
  readonly cwd: string;
}

type RuntimeEnv = Readonly<Record<string, unknown>>;

const bad = (field: string, problem: string): Error => clientErrors.BadRuntimeEnv({ from: field, problem });
const isRemote = (path: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(path);

/** The runtime environment with local folders and files uploaded, and named as the head knows them; as Ray's client does. */
export async function uploadRuntimeEnv(env: RuntimeEnv, context: UploadContext): Promise<Record<string, unknown>> {
  const done: Record<string, unknown> = { ...env };
  const workingDir = env['working_dir'];
  const modules = env['py_modules'];
  if (typeof workingDir === 'string') done['working_dir'] = await uploadWorkingDir(workingDir, env, context);
  else if (workingDir !== undefined && workingDir !== null) throw bad('working_dir', 'must be a path or a URI');
  if (modules !== undefined && modules !== null) {
    if (!Array.isArray(modules) || !modules.every((each) => typeof each === 'string'))
      throw bad('py_modules', 'must be a list of paths and URIs');
    const uris: string[] = [];
    for (const path of modules) uris.push(await uploadModule(path, env, context));
    done['py_modules'] = uris;
  }
  for (const kind of ['pip', 'uv'])
    if (typeof env[kind] === 'string') done[kind] = await requirementsIn(kind, env[kind], context);
  const { pip, conda } = env as { readonly pip?: { readonly packages?: unknown } | null; readonly conda?: unknown };
  if (typeof pip?.packages === 'string')
    done['pip'] = { ...pip, packages: await requirementsIn('pip', pip.packages, context) };
  if (typeof conda === 'string' && /\.ya?ml$/.test(conda)) done['conda'] = await yamlIn('conda', conda, context);
  return done;
}

async function uploadWorkingDir(path: string, env: RuntimeEnv, context: UploadContext): Promise<string> {
  if (isRemote(path)) return path;
  const full = resolve(context.cwd, path);
  const kind = await kindOf('working_dir', path, full);
  const { packageFile, packageFolder } = await import('../jobs/packages/working-dir.ts');
  if (kind === 'file' && !archiveEndings.some((ending) => full.endsWith(ending)))
    throw bad('working_dir', `'${path}' is neither a folder nor a ${archiveEndings.join(', ')} file`);
  context.events.emit(clientEvents.packaging, { path }, { id: full, state: 'running' });
  return await upload(
    path,
    kind === 'file' ? await packageFile(full) : await packageFolder(full, await packagingOf(env, context)),
    context,
  );
}

async function uploadModule(path: string, env: RuntimeEnv, context: UploadContext): Promise<string> {
  if (isRemote(path)) return path;
  const full = resolve(context.cwd, path);
  const kind = await kindOf('py_modules', path, full);
  const { packageFile, packageFolder, packageModuleFile } = await import('../jobs/packages/working-dir.ts');
  context.events.emit(clientEvents.packaging, { path }, { id: full, state: 'running' });
  if (kind === 'folder')
    return await upload(
      path,
      await packageFolder(full, { ...(await packagingOf(env, context)), includeParent: true }),
      context,
    );
  if (full.endsWith('.py')) return await upload(path, await packageModuleFile(full), context);
  if (endingOf(full) !== undefined) return await upload(path, await packageFile(full), context);
  throw bad('py_modules', `'${path}' is neither a folder nor a .py, ${moduleEndings.join(', ')} file`);
}

async function packagingOf(
  env: RuntimeEnv,
  context: UploadContext,
): Promise<{ excludes: string[]; useGitignore: boolean }> {
  const { defaultExcludes } = await import('../jobs/packages/working-dir.ts');
  const own = env['excludes'] ?? [];
  if (!Array.isArray(own) || !own.every((each) => typeof each === 'string'))
    throw bad('excludes', 'must be a list of patterns');
  const instead = context.env['RAY_OVERRIDE_RUNTIME_ENV_DEFAULT_EXCLUDES'];
  const usual = instead === undefined ? defaultExcludes : instead.split(',').filter((each) => each !== '');
  return {
    excludes: [...usual, ...own],
    useGitignore: context.env['RAY_RUNTIME_ENV_IGNORE_GITIGNORE'] !== '1',
  };
}

const mostNamed = 10;

/** Uploads what the head does not have yet. */
async function upload(path: string, local: LocalPackage, { http, events, cwd }: UploadContext): Promise<string> {
  const name = basename(local.uri);
  const target = `/api/packages/gcs/${encodeURIComponent(name)}`;
  const id = resolve(cwd, path);
  if (local.leftOut.length > 0) {
    const more = local.leftOut.length - mostNamed;
    const names = `${local.leftOut.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    events.emit(clientEvents.leftOut, { path, names });
  }
  if ((await http.statusOf('GET', target)) === 200) {
    events.emit(clientEvents.alreadyThere, { path, files: local.files }, { id, state: 'done' });
    return local.uri;
  }
  // Refusals other than "not there" get their words from the upload itself.
  const folder = await mkdtemp(join(tmpdir(), 'manta-package-'));
  try {
    const file = await local.write(join(folder, name));
    const { size } = await stat(file);
    const report = (sent: number): void =>
      events.emit(
        clientEvents.uploading,
        { path, size: sizeWords(size) },
        { id, state: 'running', fraction: size === 0 ? 1 : sent / size },
      );
    const answer = await http.send('PUT', target, { body: { length: size, stream: () => counted(file, report) } });
    answer.body.resume();
    events.emit(clientEvents.uploaded, { path, files: local.files, size: sizeWords(size) }, { id, state: 'done' });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return local.uri;
}

function counted(file: string, report: (sent: number) => void): Readable {
  let sent = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sent += chunk.length;
      report(sent);
      done(null, chunk);
    },
  });
  const source = createReadStream(file);
  source.on('error', (error) => counter.destroy(error));
  return source.pipe(counter);
}

async function kindOf(field: string, path: string, full: string): Promise<'file' | 'folder'> {
  const stats = await stat(full).catch(() => undefined);
  if (stats === undefined) throw bad(field, `'${path}' does not exist`);
  return stats.isDirectory() ? 'folder' : 'file';
}

/** `pip: requirements.txt` means the lines of that file; only the head needs to know them. */
async function requirementsIn(kind: string, path: string, { cwd }: UploadContext): Promise<string[]> {
  const text = await readFile(resolve(cwd, path), 'utf8').catch(() => undefined);
  if (text === undefined) throw bad(kind, `requirements file not found: '${path}'`);
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** `conda: environment.yml` means what stands in that file. */
async function yamlIn(field: string, path: string, { cwd }: UploadContext): Promise<unknown> {
  const bytes = await readFile(resolve(cwd, path)).catch(() => undefined);
  if (bytes === undefined) throw bad(field, `file not found: '${path}'`);
  const { readYamlBytes } = await import('../core/spec/yaml/read.ts');
  const result = readYamlBytes(path, bytes);
  if ('source' in result) return result.source.value ?? {};
  const [first] = result.problems;
  throw bad(`${path}:${first?.at.line}:${first?.at.column}`, first?.message ?? '');
}

function sizeWords(bytes: number): string {
  if (bytes < 10_000) return `${bytes} bytes`;
  return bytes < 10_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${Math.round(bytes / 1_000_000)} MB`;
}
