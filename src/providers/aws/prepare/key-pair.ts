import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { DescribeKeyPairsCommand, ImportKeyPairCommand, type KeyPairInfo } from '@aws-sdk/client-ec2';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import { awsErrors } from '../errors.ts';
import type { FileType } from './file-types.ts';
import { ownerOf, shortId } from './ownership.ts';
import { isCode } from './refused.ts';
import type { Scene, Told } from './scene.ts';

/** Which key instances accept. */
export interface KeyLook extends Told {
  /** For types that name none; absent where all do. */
  readonly name?: string;
  readonly publicKey?: string;
  /** It is to be imported. */
  readonly isMissing: boolean;
}

export async function lookForKey(scene: Scene, types: readonly FileType[]): Promise<KeyLook> {
  for (const type of types) checkPrivateKey(scene, type);
  const bare = types.filter(({ config }) => !isText(config.KeyName));
  const publicKey = bare.length > 0 ? scene.request.login().publicKey.trim() : '';
  const names = bare.length > 0 ? ownNames(scene, publicKey) : [];
  const given = types.flatMap((type) => (isText(type.config.KeyName) ? [{ type, key: type.config.KeyName }] : []));
  const found = await askKeys(scene, [...new Set([...names, ...given.map(({ key }) => key)])]);
  for (const { type, key } of given)
    if (!found.has(key)) throw awsErrors.NoKeyPair({ at: [...type.at, 'KeyName'], key, region: scene.region });
  const told = [...new Set(given.map(({ key }) => key))].map(
    (id) => ({ what: 'key pair', action: 'found', id, note: 'as the file says' }) as const,
  );
  if (bare.length === 0) return { steps: told, warnings: [], isMissing: false };
  return chooseName(scene, { names, found, publicKey, told });
}

function chooseName(
  { request: { clusterId } }: Scene,
  {
    names,
    found,
    publicKey,
    told,
  }: {
    readonly names: readonly string[];
    readonly found: ReadonlyMap<string, KeyPairInfo>;
    readonly publicKey: string;
    readonly told: Told['steps'];
  },
): KeyLook {
  const fits = (key: KeyPairInfo | undefined): boolean =>
    key === undefined || (sameKey(key.PublicKey, publicKey) && (ownerOf(key.Tags) ?? clusterId) === clusterId);
  const name = names.find((each) => fits(found.get(each)))!;
  const there = found.get(name);
  const note = name === names[0] ? undefined : `${names[0]} belongs to another cluster`;
  return {
    steps: [
      ...told,
      {
        what: 'key pair',
        action: there === undefined ? 'create' : 'found',
        id: name,
        ...(note !== undefined && { note }),
      },
    ],
    warnings: [],
    ...{ name, publicKey, isMissing: there === undefined },
  };
}

/** Imports the key where it is missing. One that another command imported meanwhile is as good. */
export async function makeKey(scene: Scene, { name, publicKey, isMissing }: KeyLook): Promise<void> {
  if (!isMissing || name === undefined || publicKey === undefined) return;
  try {
    await scene.ask('ec2:ImportKeyPair', (options) =>
      scene.aws.ec2.send(
        new ImportKeyPairCommand({
          KeyName: name,
          PublicKeyMaterial: Buffer.from(publicKey),
          TagSpecifications: [{ ResourceType: 'key-pair', Tags: scene.tags }],
        }),
        options,
      ),
    );
  } catch (error) {
    if (!isCode('InvalidKeyPair.Duplicate')(error)) throw error;
    const there = (await askKeys(scene, [name])).get(name);
    if (!sameKey(there?.PublicKey, publicKey)) throw error;
  }
}

/** The usual name, and those to take where another cluster has it. */
function ownNames({ request: { cluster, clusterId }, spec }: Scene, publicKey: string): readonly string[] {
  const { key_name: given } = mapOf(spec.provider.config.key_pair);
  const usual = (isText(given) ? given : `ray-autoscaler-${cluster}`).slice(0, 230);
  const own = `${usual}-${shortId(clusterId)}`;
  return [usual, own, `${own}-${createHash('sha256').update(keyData(publicKey)).digest('hex').slice(0, 8)}`];
}

async function askKeys(scene: Scene, names: readonly string[]): Promise<ReadonlyMap<string, KeyPairInfo>> {
  const { KeyPairs: found = [] } = await scene.ask('ec2:DescribeKeyPairs', (options) =>
    scene.aws.ec2.send(
      new DescribeKeyPairsCommand({
        Filters: [{ Name: 'key-name', Values: [...names] }],
        IncludePublicKey: true,
      }),
      options,
    ),
  );
  return new Map(found.map((key) => [key.KeyName ?? '', key]));
}

/** Kind and data, without the comment. */
const keyData = (text: string): string => text.trim().split(/\s+/).slice(0, 2).join(' ');
const sameKey = (one: string | undefined, other: string): boolean =>
  one !== undefined && keyData(one) === keyData(other);

function checkPrivateKey({ spec, env }: Scene, { at, config: { KeyName: key } }: FileType): void {
  if (!isText(key)) return;
  const file = spec.auth.privateKey;
  const path = file?.replace(/^~(?=\/|$)/, env['HOME'] ?? homedir());
  if (path === undefined || !existsSync(path)) throw awsErrors.NoPrivateKey({ at: [...at, 'KeyName'], key, file });
}
