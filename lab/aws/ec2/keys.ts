import { createHash } from 'node:crypto';
import type { KeyPair } from '../../cloud/belongings.ts';
import type { Caller } from '../caller.ts';
import { awsError } from '../errors.ts';
import type { Ec2Handlers } from '../handlers.ts';
import { byIds, filterBy, mayCreate, mayTouch, specifiedTags, writeTags } from './listing.ts';
import { opensshKeyPair } from './openssh-key.ts';

export const allKeys = ({ world, account, region }: Caller): readonly KeyPair[] =>
  world.cloud.has.keys.of(account, region);

const writeKey = ({ id, name, kind, fingerprint, tags }: KeyPair) => ({
  KeyPairId: id,
  KeyName: name,
  KeyType: kind,
  KeyFingerprint: fingerprint,
  Tags: writeTags(tags),
});

function newName(caller: Caller, name = ''): string {
  if (name === '' || name.length > 255) throw awsError('InvalidParameterValue', `Invalid value '${name}' for keyName.`);
  if (allKeys(caller).some((key) => key.name === name))
    throw awsError('InvalidKeyPair.Duplicate', `The keypair already exists`);
  return name;
}

export const keyHandlers: Ec2Handlers = {
  DescribeKeyPairs(request, caller) {
    caller.may();
    const all = allKeys(caller);
    const named = request.KeyNames?.map((name) => {
      const found = all.find((key) => key.name === name);
      if (found === undefined) throw awsError('InvalidKeyPair.NotFound', `The key pair '${name}' does not exist`);
      return found;
    });
    const fits = filterBy<KeyPair>(
      request.Filters,
      {
        'key-name': ({ name }) => [name],
        'key-pair-id': ({ id }) => [id],
        fingerprint: ({ fingerprint }) => [fingerprint],
      },
      ({ tags }) => tags,
    );
    const found = byIds(named ?? all, request.KeyPairIds, 'InvalidKeyPair.NotFound', 'key pair').filter(fits);
    return {
      KeyPairs: found.map((key) => ({
        ...writeKey(key),
        CreateTime: new Date(key.createdAt),
        ...(request.IncludePublicKey && { PublicKey: key.publicKey }),
      })),
    };
  },

  CreateKeyPair(request, caller) {
    const tags = specifiedTags(request.TagSpecifications, ['key-pair']).get('key-pair') ?? {};
    mayCreate(caller, 'key-pair', tags);
    const name = newName(caller, request.KeyName);
    caller.commit();
    const kind = request.KeyType ?? 'rsa';
    const pair = opensshKeyPair(kind);
    const { account, region, world } = caller;
    const base = { account, region, createdAt: world.now(), tags };
    const fingerprint = colons(createHash('sha1').update(pair.privateKey).digest('hex'));
    const key = world.cloud.has.keys.add({
      ...base,
      id: world.newId('key'),
      name,
      kind,
      publicKey: pair.publicKey,
      fingerprint,
    });
    const { KeyType: _, ...shown } = writeKey(key);
    return { ...shown, KeyMaterial: pair.privateKey };
  },

  ImportKeyPair(request, caller) {
    const tags = specifiedTags(request.TagSpecifications, ['key-pair']).get('key-pair') ?? {};
    mayCreate(caller, 'key-pair', tags);
    const name = newName(caller, request.KeyName);
    const text = Buffer.from(request.PublicKeyMaterial ?? [])
      .toString()
      .trim();
    const [, algorithm, data = ''] = /^(ssh-ed25519|ssh-rsa) ([A-Za-z0-9+/=]+)(?: .*)?$/.exec(text) ?? [];
    if (algorithm === undefined) throw awsError('InvalidKey.Format', 'Key is not in valid OpenSSH public key format');
    caller.commit();
    const { account, region, world } = caller;
    const key = world.cloud.has.keys.add({
      ...{ account, region, createdAt: world.now(), tags, id: world.newId('key'), name },
      kind: algorithm === 'ssh-rsa' ? 'rsa' : 'ed25519',
      publicKey: text,
      fingerprint: colons(createHash('md5').update(Buffer.from(data, 'base64')).digest('hex')),
    });
    return { KeyPairId: key.id, KeyName: name, KeyFingerprint: key.fingerprint, Tags: writeTags(tags) };
  },

  DeleteKeyPair({ KeyName: name, KeyPairId: id }, caller) {
    if (name === undefined && id === undefined)
      throw awsError('MissingParameter', 'The request must contain the parameter KeyName or KeyPairId');
    const found = allKeys(caller).find((key) => (id === undefined ? key.name === name : key.id === id));
    // A key that is not there is deleted as well as one that was.
    if (found === undefined) caller.may(caller.arn(`key-pair/${name ?? id}`));
    else mayTouch(caller, 'key-pair', found);
    caller.commit();
    if (found !== undefined) caller.world.cloud.has.keys.delete(found.id);
    return { Return: true, ...(found && { KeyPairId: found.id }) };
  },
};

const colons = (text: string): string => text.match(/../g)!.join(':');
