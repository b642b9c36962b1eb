import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockedRegistryPort, registryPort } from '../containers.ts';
import type { ProcessIdentity } from '../processes.ts';
import { imageStore, images } from './build.ts';

/** The registries of a lab, as its hosts name them. Nothing can be pushed. */
export interface Registry {
  /** Images that anybody may pull, with the registry's address before each name. */
  readonly images: typeof images;
  /** Where they are on the disk of this machine, without the address before their names. */
  readonly store: string;
  /** The same for whoever has logged in. */
  readonly locked: {
    readonly address: string;
    readonly user: string;
    readonly password: string;
    readonly images: typeof images;
  };
}

/** Starts both registries on the switch; they end with the lab. */
export async function startRegistries(keeper: ProcessIdentity, gateway: string, folder: string): Promise<Registry> {
  const store = await imageStore();
  const login = { user: 'lab', password: randomBytes(9).toString('base64url') };
  const passwords = join(folder, 'htpasswd');
  writeFileSync(passwords, `${login.user}:${bcrypt(login.password)}\n`);
  const addresses = { open: `${gateway}:${registryPort}`, locked: `${gateway}:${lockedRegistryPort}` };
  serve(keeper, folder, 'registry', configuration(store, addresses.open));
  serve(keeper, folder, 'registry-locked', configuration(store, addresses.locked, passwords));
  await Promise.all([listening(keeper, registryPort, folder), listening(keeper, lockedRegistryPort, folder)]);
  return {
    images: imagesAt(addresses.open),
    store,
    locked: { address: addresses.locked, ...login, images: imagesAt(addresses.locked) },
  };
}

const imagesAt = (address: string): typeof images => ({
  base: `${address}/${images.base}`,
  node: `${address}/${images.node}`,
  ray: `${address}/${images.ray}`,
  rayUser: `${address}/${images.rayUser}`,
});

/** JSON is YAML. */
const configuration = (store: string, address: string, passwords?: string): string =>
  JSON.stringify({
    version: 0.1,
    log: { level: 'info', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: store }, maintenance: { readonly: { enabled: true } } },
    http: { addr: address, secret: 'lab' },
    ...(passwords !== undefined && { auth: { htpasswd: { realm: 'lab', path: passwords } } }),
  });

function serve(keeper: ProcessIdentity, folder: string, name: string, config: string): void {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, config);
  const log = openSync(join(folder, `${name}.log`), 'a');
  spawn(
    'nsenter',
    ['--target', String(keeper.pid), '--mount', '--net', '--pid', '--', '/usr/bin/docker-registry', 'serve', file],
    { stdio: ['ignore', log, log], detached: true, env: { PATH: '/usr/bin:/bin', OTEL_TRACES_EXPORTER: 'none' } },
  ).unref();
  closeSync(log);
}

/** Waits until somebody in the keeper's network listens on the port. */
async function listening(keeper: ProcessIdentity, port: number, folder: string): Promise<void> {
  const socket = new RegExp(`:${port.toString(16).toUpperCase().padStart(4, '0')} \\S+ 0A `, 'm');
  for (let attempt = 0; attempt < 1000; attempt++) {
    if (socket.test(readFileSync(`/proc/${keeper.pid}/net/tcp`, 'utf8'))) return;
    await sleep(10);
  }
  throw new Error(`the registry did not start; its logs are in ${folder}`);
}

/** Of the C library, through Perl, which every Debian has. */
function bcrypt(password: string): string {
  const salt = `$2b$05$${randomBytes(20).toString('hex').slice(0, 21)}e`;
  const made = spawnSync('perl', ['-e', 'print crypt($ARGV[0], $ARGV[1])', '--', password, salt]);
  const hash = made.stdout.toString();
  if (!hash.startsWith('$2b$')) throw new Error(`perl has no bcrypt: ${made.stderr.toString()}`);
  return hash;
}
