// needs: openssl
import { execFileSync } from 'node:child_process';

/** `<path>.crt`, which is good for loopback and its own authority, and `<path>.key`. */
export function makeCertificate(path: string): void {
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
  const whose = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', `${path}.key`, '-out', `${path}.crt`];
  execFileSync('openssl', ['req', ...kind, ...whose, ...files], { stdio: 'ignore' });
}
