// needs: openssl

/** Certificates for Google's names by an authority that only a lab trusts. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificates {
  /** File of the authority's certificate. */
  readonly authority: string;
  readonly key: string;
  readonly certificate: string;
}

const names = [
  '*.googleapis.com',
  'googleapis.com',
  'accounts.google.com',
  '*.google.com',
  'metadata.google.internal',
  '*.pkg.dev',
  '*.gcr.io',
  'gcr.io',
];

let made: Certificates | undefined;

/** Made once in a process, and gone with it. */
export function certificates(): Certificates {
  if (made !== undefined) return made;
  const folder = mkdtempSync(join(tmpdir(), 'lab-google-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): void =>
    void execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    ...['req', '-x509', ...newKey, '-keyout', file('ca.key'), '-out', file('ca.pem'), '-days', '3650'],
    ...['-subj', '/CN=Lab authority', '-addext', 'keyUsage=critical,keyCertSign,cRLSign'],
  );
  openssl('req', ...newKey, '-keyout', file('leaf.key'), '-out', file('leaf.csr'), '-subj', '/CN=googleapis.com');
  const extensions = [
    'basicConstraints=CA:FALSE',
    'keyUsage=critical,digitalSignature',
    'extendedKeyUsage=serverAuth',
    'subjectKeyIdentifier=hash',
    'authorityKeyIdentifier=keyid',
    `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`,
  ];
  writeFileSync(file('extensions'), `${extensions.join('\n')}\n`);
  openssl(
    ...['x509', '-req', '-in', file('leaf.csr'), '-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial'],
    ...['-days', '800', '-extfile', file('extensions'), '-out', file('leaf.pem')],
  );
  const read = (name: string): string => readFileSync(file(name), 'utf8');
  made = { authority: file('ca.pem'), key: read('leaf.key'), certificate: read('leaf.pem') };
  return made;
}
