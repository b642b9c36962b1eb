import { generateKeyPairSync } from 'node:crypto';

const word = (data: string | Buffer): Buffer => {
  const bytes = Buffer.from(data as string);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

/** A number as SSH writes it: with a zero before it where it would look negative. */
const number = (base64: string): Buffer => {
  const bytes = Buffer.from(base64, 'base64url');
  return word((bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
};

/** A new key as CreateKeyPair gives it: PEM, which every ssh reads, and its line for `authorized_keys`. */
export function opensshKeyPair(kind: 'rsa' | 'ed25519'): { readonly publicKey: string; readonly privateKey: string } {
  if (kind === 'rsa') {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const { n = '', e = '' } = publicKey.export({ format: 'jwk' });
    const blob = Buffer.concat([word('ssh-rsa'), number(e), number(n)]);
    return {
      publicKey: `ssh-rsa ${blob.toString('base64')}`,
      privateKey: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    };
  }
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const seed = Buffer.from(privateKey.export({ format: 'jwk' }).d!, 'base64url');
  const open = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url');
  const blob = Buffer.concat([word('ssh-ed25519'), word(open)]);
  // ssh reads ed25519 in its own format alone.
  const check = Buffer.alloc(8, 7);
  const secret = Buffer.concat([check, blob, word(Buffer.concat([seed, open])), word('')]);
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, index) => index + 1));
  const one = Buffer.from([0, 0, 0, 1]);
  const head = [Buffer.from('openssh-key-v1\0'), word('none'), word('none'), word(''), one];
  const whole = Buffer.concat([...head, word(blob), word(Buffer.concat([secret, padding]))]).toString('base64');
  const lines = whole.match(/.{1,70}/g)!.join('\n');
  return {
    publicKey: `ssh-ed25519 ${blob.toString('base64')}`,
    privateKey: `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines}\n-----END OPENSSH PRIVATE KEY-----\n`,
  };
}
