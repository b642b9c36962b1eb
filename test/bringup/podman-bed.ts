// needs: podman

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Host } from '../../src/base/host.ts';
import { processTable, sendSignal } from '../../src/base/process.ts';
import { until } from '../contract/waiting.ts';
import { localHost } from './local-host.ts';

/** Why there can be no containers here; undefined when there can. */
export function podmanMissing(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'containers need Linux and root';
  for (const program of ['podman', 'runc', 'docker-registry'])
    try {
      execFileSync('which', [program], { stdio: 'ignore' });
    } catch {
      return `containers need '${program}' (apt-get install podman runc docker-registry)`;
    }
  return undefined;
}

/** Whether there is a docker client, which can speak to podman. Podman's own imitation is none. */
export function dockerClient(): boolean {
  try {
    return execFileSync('docker', ['--version'], { encoding: 'utf8', stdio: 'pipe' }).startsWith('Docker version');
  } catch {
    return false;
  }
}

export interface PodmanBed {
  readonly host: Host;
  readonly home: string;
  readonly podman: (...words: readonly string[]) => string;
  readonly registry: string;
}

/** What every container of the image gets: the programs of this machine. */
export const programs = ['-v /usr:/usr:ro'];

/**
 * Podman with a storage of its own, a registry, and an image `tiny:1` in it, which is a skeleton: its programs are this
 * machine's, mounted by the options above. For `docker` podman serves its interface. All of it is gone with the test.
 */
export async function podmanBed(t: TestContext, engine: 'podman' | 'docker' = 'podman'): Promise<PodmanBed> {
  const home = mkdtempSync(join(tmpdir(), 'manta-podman-'));
  const write = (path: string, text: string): string => {
    writeFileSync(join(home, path), text);
    return join(home, path);
  };
  const port = await freePort();
  const registry = `127.0.0.1:${port}`;
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    CONTAINERS_CONF: write(
      'containers.conf',
      // Podman asks for limits that a machine which is itself a container may not give.
      '[containers]\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n',
    ),
    CONTAINERS_STORAGE_CONF: write(
      'storage.conf',
      `[storage]\ndriver = "overlay"\ngraphroot = "${home}/storage"\nrunroot = "${home}/run"\n`,
    ),
    CONTAINERS_REGISTRIES_CONF: write('registries.conf', `[[registry]]\nlocation = "${registry}"\ninsecure = true\n`),
  };
  const podman = (...words: readonly string[]): string =>
    execFileSync('podman', words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const config = write(
    'registry.yml',
    `version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: ${home}/registry}}\nhttp: {addr: ${registry}}\n`,
  );
  const server = spawn('docker-registry', ['serve', config], { stdio: 'ignore' });
  t.after(() => {
    server.kill();
    try {
      podman('rm', '-af', '-t', '0');
    } finally {
      // Each exec by docker's interface leaves a watcher for minutes.
      for (const pid of processesOf(home)) sendSignal(pid, 'SIGKILL');
      for (const path of mountsBelow(home)) execFileSync('umount', ['-l', path], { stdio: 'ignore' });
      rmSync(home, { recursive: true, force: true });
    }
  });
  importSkeleton(home, podman);
  podman('tag', 'localhost/skeleton', `${registry}/tiny:1`);
  await until('the registry takes the image', () => {
    try {
      podman('push', '-q', `${registry}/tiny:1`);
      return true;
    } catch {
      return false;
    }
  });
  podman('rmi', '-af');
  if (engine === 'docker') {
    env['DOCKER_HOST'] = `unix://${home}/docker.sock`;
    const service = spawn('podman', ['system', 'service', '--time=0', env['DOCKER_HOST']], { env, stdio: 'ignore' });
    t.after(() => service.kill('SIGKILL'));
    await until('podman serves as docker', () => existsSync(`${home}/docker.sock`));
  }
  const login = Object.entries(env).map(([name, value]) => `export ${name}='${value}'\n`);
  write('.bashrc', login.join(''));
  return { host: localHost(home, env), home, podman, registry };
}

/** Processes that have the folder in their words. */
function processesOf(folder: string): number[] {
  return processTable()
    .map((row) => row.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
      } catch {
        return false;
      }
    });
}

/** Innermost first. A storage stays mounted after its last container. */
function mountsBelow(folder: string): string[] {
  const paths = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return paths.filter((path) => path.startsWith(`${folder}/`)).reverse();
}

function importSkeleton(home: string, podman: PodmanBed['podman']): void {
  const root = join(home, 'skeleton');
  for (const folder of ['usr', 'etc', 'tmp', 'proc', 'sys', 'dev', 'run', 'root', 'home/ray', 'opt'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(root, name));
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/bash\nray:x:1000:1000::/home/ray:/bin/bash\n');
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nray:x:1000:\n');
  execFileSync('chown', ['-R', '1000:1000', join(root, 'home/ray')]);
  execFileSync('tar', ['-C', root, '-cf', join(home, 'skeleton.tar'), '.']);
  podman('import', '-q', join(home, 'skeleton.tar'), 'localhost/skeleton');
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
