// needs: kube, hosts, podman, openssl

/** Kubernetes with KubeRay on hosts of the lab, every part of it real. See behaviour.md. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { kubePrograms } from '../../scripts/kube-build.ts';
import { lockedRegistryPort, registryPort } from '../containers.ts';
import type { HostOptions, Lab, LabHost } from '../lab.ts';

const folder = '/var/lib/containers/kube';
const programs = '/opt/kube';
const scripts = `${programs}-lab`;

/** What starts again when the host does. */
const bootFile = `${folder}/boot`;
const start = `setsid bash ${bootFile} < /dev/null > /dev/null 2>&1 8>&- &`;

/** What a host has that is a node of a cluster, and may be its control plane as well. */
export const kubeHost: HostOptions = {
  podman: true,
  kube: true,
  node: true,
  disk: '12g',
  each: `[ ! -e ${bootFile} ] || ${start}`,
};

/** Programs that can be killed, and start again a second later. */
export type KubePart =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kuberay-operator'
  | 'kubelet'
  | 'containerd'
  | 'kube-proxy';

export interface LabKube {
  /** Of the control plane, which is a node as well. */
  readonly host: LabHost;
  /** All nodes, `host` first. */
  readonly nodes: readonly LabHost[];
  /** As clients in the lab reach it. */
  readonly server: string;
  /** Who may do everything. */
  readonly adminConfig: string;
  /** A kubeconfig of ada or bob, who may do what a test gives them. */
  userConfig(user: 'ada' | 'bob', namespace?: string): string;
  /** Runs kubectl as the administrator; returns what it printed. */
  kubectl(words: readonly string[], input?: string): Promise<string>;
  /** Gives the root of a host a kubeconfig, such as the laptop's. */
  equip(host: LabHost, config?: string): Promise<void>;
  /** Kills a part with signal 9, on the host of the control plane or on another. */
  killPart(part: KubePart, on?: LabHost): Promise<void>;
  /** Serves the files in a folder of the laptop to pods; returns the address. */
  serveFiles(path: string): Promise<string>;
}

/** Starts a cluster on hosts that were opened with `kubeHost`; resolves when its nodes are ready and KubeRay runs. */
export async function openLabKube(lab: Lab, host: LabHost, workers: readonly LabHost[] = []): Promise<LabKube> {
  const nodes = [host, ...workers];
  const settings = settingsOf(lab, host, nodes);
  await host.must(['env', ...settings(host), 'bash', `${scripts}/certificates.bash`], { user: 'root' });
  await plantSeed(host, settings(host));
  for (const node of nodes) {
    if (node !== host) shareIdentity(host, node);
    const parts = ['node', ...(node === host ? ['control'] : [])];
    const lines = [
      ...settings(node).map((word) => `export '${word}'`),
      ...parts.map((part) => `bash ${scripts}/${part}.bash &`),
    ];
    writeFileSync(inside(node, bootFile), `${lines.join('\n')}\nwait\n`);
    await node.must(start, { user: 'root' });
  }
  routePods(lab, nodes);
  await ready(host);
  const adminConfig = readFileSync(inside(host, `${folder}/users/admin.yaml`), 'utf8');
  const kubectl: LabKube['kubectl'] = (words, input = '') =>
    host.must([`${programs}/kubectl`, '--kubeconfig', `${folder}/users/admin.yaml`, ...words], { user: 'root', input });
  await nodesReady(kubectl, nodes);
  return {
    host,
    nodes,
    server: `https://${host.name}`,
    adminConfig,
    kubectl,
    userConfig: (user, namespace = 'default') =>
      userConfig(adminConfig, readFileSync(inside(host, `${folder}/tokens.csv`), 'utf8'), user, namespace),
    equip: async (target, config = adminConfig) => {
      await target.must('umask 077; mkdir -p ~/.kube; cat > ~/.kube/config', { user: 'root', input: config });
    },
    killPart: (part, on = host) => killPart(part, on),
    serveFiles: (path) => serveFiles(lab, path),
  };
}

const inside = (host: LabHost, path: string): string => join(host.root, path);

/** What the programs of this folder read. */
function settingsOf(lab: Lab, host: LabHost, nodes: readonly LabHost[]): (of: LabHost) => readonly string[] {
  const shared = {
    BIN: programs,
    LAB: scripts,
    DNS: host.address,
    NODES: nodes.map(({ name, address }) => `${name}=${address}`).join(' '),
    PODS: nodes.map(({ name }, at) => `${name}=${podRange(at)}`).join(' '),
    REGISTRIES: [registryPort, lockedRegistryPort].map((port) => `${lab.gateway}:${port}`).join(' '),
  };
  return ({ name, address }) =>
    Object.entries({ NAME: name, ADDRESS: address, ...shared }).map(([word, value]) => `${word}=${value}`);
}

const podRange = (at: number): string => `10.88.${at + 1}.0/24`;

/** The rest of the lab reaches pods through the switch, and they it. */
function routePods({ keeper }: Lab, nodes: readonly LabHost[]): void {
  for (const [at, { address }] of nodes.entries())
    execFileSync('nsenter', [
      '--target',
      String(keeper.pid),
      '--net',
      '--',
      'ip',
      'route',
      'replace',
      podRange(at),
      'via',
      address,
    ]);
}

/** Gives a node what it is known by, and no more. */
function shareIdentity(host: LabHost, node: LabHost): void {
  const own = `kubelet-${node.name}`;
  for (const path of ['pki/ca.crt', `pki/${own}.crt`, `pki/${own}.key`, `users/${own}.yaml`, 'users/kube-proxy.yaml']) {
    mkdirSync(join(inside(node, folder), path, '..'), { recursive: true });
    copyFileSync(join(inside(host, folder), path), join(inside(node, folder), path));
  }
}

/** An etcd that has KubeRay's CRDs already starts in half the time: made once, in the user's cache folder. */
async function plantSeed(host: LabHost, settings: readonly string[]): Promise<void> {
  const hash = createHash('sha256');
  for (const file of ['control.bash', 'roles.yaml'])
    hash.update(readFileSync(fileURLToPath(new URL(file, import.meta.url))));
  const cached = `${kubePrograms()}-seed-${hash.digest('hex').slice(0, 12)}.tar.gz`;
  const seed = inside(host, `${folder}/seed.tar.gz`);
  if (existsSync(cached)) return cpSync(cached, seed);
  await host.must(['env', ...settings, 'bash', `${scripts}/control.bash`, 'seed'], { user: 'root' });
  const draft = `${cached}-${randomBytes(4).toString('hex')}`;
  cpSync(seed, draft);
  renameSync(draft, cached);
}

/** Each part starts after those that it needs; the script leaves a file when the last one has. */
async function ready(host: LabHost): Promise<void> {
  const deadline = performance.now() + 300_000;
  while (performance.now() < deadline) {
    if (existsSync(inside(host, '/run/kube-ready'))) return;
    await sleep(100);
  }
  const logs = await host.exec('tail -n 5 /var/log/kube/*.log', { user: 'root' });
  throw new Error(`Kubernetes did not start on ${host.name}: ${logs.stdout.slice(-6_000)}`);
}

async function nodesReady(kubectl: LabKube['kubectl'], nodes: readonly LabHost[]): Promise<void> {
  const names = nodes.map(({ name }) => `node/${name}`);
  const wait = ['wait', '--for=condition=Ready', '--timeout=240s', ...names];
  // A node that has not told of itself yet cannot be waited for.
  for (let attempt = 0; ; attempt++) {
    try {
      return void (await kubectl(wait));
    } catch (error) {
      if (attempt > 600) throw error;
      await sleep(100);
    }
  }
}

async function killPart(part: KubePart, on: LabHost): Promise<void> {
  const found = on.processes().filter(({ command }) => (command[0] ?? '').split('/').at(-1) === part);
  if (found.length === 0) throw new Error(`${part} does not run on ${on.name}`);
  await on.must(['kill', '-9', ...found.map(({ hostPid }) => String(hostPid))], { user: 'root' });
}

async function serveFiles({ laptop }: Lab, path: string): Promise<string> {
  const words = ['python3', '-u', '-m', 'http.server', '--directory', path, '8001'];
  const child = laptop.spawn(words, { user: 'root', stdio: ['ignore', 'pipe', 'ignore'] });
  await new Promise<void>((resolve, reject) => {
    child.stdout!.once('data', () => resolve());
    child.once('exit', () => reject(new Error('files cannot be served from the laptop')));
  });
  return `http://${laptop.name}:8001`;
}

function userConfig(admin: string, tokens: string, user: string, namespace: string): string {
  const token = tokens
    .split('\n')
    .find((line) => line.split(',')[1] === user)
    ?.split(',')[0];
  return admin
    .replace(/^users:.*$/m, `users: [{name: ${user}, user: {token: ${token}}}]`)
    .replace(
      /^contexts:.*$/m,
      `contexts: [{name: lab, context: {cluster: lab, user: ${user}, namespace: ${namespace}}}]`,
    );
}
