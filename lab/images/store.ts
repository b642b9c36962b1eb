import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A layer or a description in the registry's storage. */
export interface Blob {
  readonly digest: string;
  readonly size: number;
}

export interface ImageConfig {
  readonly Env: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly User?: string;
}

/** Media types of the Open Container Initiative. Layers are plain tar: on one machine compressing costs more than copying. */
const types = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
};

const top = (store: string): string => join(store, 'docker/registry/v2');

/** Moves a tar file into a registry's storage. */
export async function addLayer(store: string, tarFile: string): Promise<Blob> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(tarFile, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  const blob = { digest: hash.digest('hex'), size: statSync(tarFile).size };
  renameSync(tarFile, blobPath(store, blob.digest));
  return blob;
}

/** Names an image made of layers that are in the storage. */
export function addImage(store: string, name: string, tag: string, layers: readonly Blob[], config: ImageConfig): void {
  const described = addJson(store, {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => `sha256:${digest}`) },
  });
  const manifest = addJson(store, {
    schemaVersion: 2,
    mediaType: types.manifest,
    config: { mediaType: types.config, digest: `sha256:${described.digest}`, size: described.size },
    layers: layers.map(({ digest, size }) => ({ mediaType: types.layer, digest: `sha256:${digest}`, size })),
  });
  const repository = join(top(store), 'repositories', name);
  for (const { digest } of [...layers, described]) link(join(repository, '_layers/sha256', digest), digest);
  link(join(repository, '_manifests/revisions/sha256', manifest.digest), manifest.digest);
  link(join(repository, '_manifests/tags', tag, 'current'), manifest.digest);
  link(join(repository, '_manifests/tags', tag, 'index/sha256', manifest.digest), manifest.digest);
}

function addJson(store: string, value: unknown): Blob {
  const text = JSON.stringify(value);
  const digest = createHash('sha256').update(text).digest('hex');
  writeFileSync(blobPath(store, digest), text);
  return { digest, size: Buffer.byteLength(text) };
}

function blobPath(store: string, digest: string): string {
  const folder = join(top(store), 'blobs/sha256', digest.slice(0, 2), digest);
  mkdirSync(folder, { recursive: true });
  return join(folder, 'data');
}

function link(folder: string, digest: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'link'), `sha256:${digest}`);
}
