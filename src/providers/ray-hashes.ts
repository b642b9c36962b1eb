import { createHash, type Hash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { ownValue } from '../base/own-value.ts';
import type { Plain, PlainMap } from '../core/spec/cluster.ts';
import { pythonJson } from '../core/spec/ray/json.ts';
import { isMap } from '../core/spec/source.ts';
import { copyPlain, setEntry } from '../core/spec/yaml/python.ts';

/**
 * The hashes by which Ray tells whether a node is up to date: over the same texts and the same bytes, in the same
 * order. `config` is always what Ray itself prepares of a file (`core/spec/ray/prepare.ts`).
 */
export interface RuntimeHashes {
  readonly runtime: string;
  /** Of the contents of the mounts; with those of `cluster_synced_files` where these are given. */
  readonly contents: string;
}

/** Hash of a node's launch configuration and of how to log in, with keys by their contents. */
function hashLaunchConfig(nodeConfig: PlainMap, auth: PlainMap): string {
  const full: Record<string, Plain> = copyPlain(auth);
  for (const key of ['ssh_private_key', 'ssh_public_key']) {
    const path = ownValue(full, key);
    if (typeof path === 'string') setEntry(full, key, readText(expandUser(path)));
  }
  return digestOf(createHash('sha256').update(pythonJson([nodeConfig, full], { sortKeys: true })));
}

/** Hash of the head's launch configuration, as `ray up` computes it. */
export function headLaunchHash(config: PlainMap): string {
  const type = mapOf(ownValue(mapOf(config.available_node_types), String(config.head_node_type)));
  const own = mapOf(config.head_node);
  const nodeConfig = Object.keys(own).length === 0 ? mapOf(type.node_config) : { ...own, ...mapOf(type.node_config) };
  return hashLaunchConfig(nodeConfig, mapOf(config.auth));
}

/** Hash of what a node is set up with: the mounts and their contents, and whatever else decides. */
async function hashRuntimeConfig(
  mounts: PlainMap,
  clusterSynced: readonly string[] | undefined,
  extra: Plain,
): Promise<RuntimeHashes> {
  const contents = createHash('sha256');
  for (const path of Object.values(mounts).map(String).sort(byCodePoint)) await addContents(contents, path);
  const mountsHash = digestOf(contents.copy());
  const text = pythonJson(mounts, { sortKeys: true }) + pythonJson(extra, { sortKeys: true });
  const runtime = digestOf(createHash('sha256').update(text).update(mountsHash));
  for (const path of [...(clusterSynced ?? [])].sort(byCodePoint))
    if (existsSync(expandUser(path))) await addContents(contents, path);
  return { runtime, contents: digestOf(contents) };
}

/**
 * The hashes that `ray up` may have given the head of an unchanged file: the current ones, when Ray notes in the prepared
 * file where it caches it, and those of earlier versions, which did not. `temp` is Python's folder for temporary files.
 */
export async function headRuntimeHashes(config: PlainMap, temp = tmpdir()): Promise<readonly RuntimeHashes[]> {
  const mounts = mapOf(config.file_mounts);
  const key = createHash('sha256')
    .update(pythonJson([config], { sortKeys: true }))
    .digest('hex');
  const noted: Record<string, Plain> = copyPlain(config);
  setEntry(noted.provider as Record<string, Plain>, '_config_cache_path', `${temp}/ray-config-${key}`);
  return [await hashRuntimeConfig(mounts, undefined, noted), await hashRuntimeConfig(mounts, undefined, config)];
}

/** The hashes that Ray's autoscaler gives to workers. */
export const workerRuntimeHashes = (config: PlainMap): Promise<RuntimeHashes> =>
  hashRuntimeConfig(mapOf(config.file_mounts), (config.cluster_synced_files ?? []) as readonly string[], [
    config.worker_setup_commands ?? [],
    config.worker_start_ray_commands ?? [],
  ]);

/** A file's bytes; of a directory every path and file name with the bytes, in order. Links to directories are left out. */
async function addContents(hash: Hash, path: string): Promise<void> {
  const top = expandUser(path);
  if (!statSync(top).isDirectory()) return await addFile(hash, top);
  const folders = await foldersUnder(top);
  for (const { folder, files } of folders.sort((a, b) => byCodePoint(a.folder, b.folder))) {
    hash.update(folder);
    for (const name of files) {
      hash.update(name);
      await addFile(hash, joined(folder, name));
    }
  }
}

async function foldersUnder(folder: string): Promise<{ folder: string; files: readonly string[] }[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files: string[] = [];
  const below: string[] = [];
  for (const entry of entries) {
    const path = joined(folder, entry.name);
    const linked = entry.isSymbolicLink() ? await stat(path).catch(() => undefined) : undefined;
    if (entry.isDirectory()) below.push(path);
    else if (!linked?.isDirectory()) files.push(entry.name);
  }
  const deeper = await Promise.all(below.map(foldersUnder));
  return [{ folder, files: files.sort(byCodePoint) }, ...deeper.flat()];
}

async function addFile(hash: Hash, path: string): Promise<void> {
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
}

/** As Python joins: paths stay as they are written, for they are part of the hash. */
const joined = (folder: string, name: string): string => (folder.endsWith('/') ? folder : `${folder}/`) + name;

const expandUser = (path: string): string => path.replace(/^~(?=\/|$)/, process.env['HOME'] ?? homedir());

/** As Python reads a text, whatever ends its lines. */
const readText = (path: string): string => readFileSync(path, 'utf8').replace(/\r\n?/g, '\n');

const byCodePoint = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
const mapOf = (value: Plain | undefined): PlainMap => (isMap(value) ? value : {});

const digits = '0123456789abcdefghijklmnopqrstuv';

/** base32hex in lower case without padding: short enough for a label of Google Cloud. */
function digestOf(hash: Hash): string {
  let bits = 0n;
  const bytes = hash.digest();
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte);
  const length = Math.ceil((bytes.length * 8) / 5);
  bits <<= BigInt(length * 5 - bytes.length * 8);
  let text = '';
  for (let at = length - 1; at >= 0; at--) text += digits[Number((bits >> BigInt(5 * at)) & 31n)];
  return text;
}
