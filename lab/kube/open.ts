// needs: kube, hosts, podman, openssl

/** Kubernetes with KubeRay on a host of the lab, every part of it real. See behaviour.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockedRegistryPort, registryPort } from '../containers.ts';
import type { HostOptions, Lab, LabHost } from '../lab.ts';

const folder = '/var/lib/containers/kube';
const programs = '/opt/kube';

/** What a host has that is all of a cluster: its control plane and its one node. */
export const kubeHost: HostOptions = { podman: true, kube: true, disk: '12g' };

export interface LabKube {
  readonly host: LabHost;
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
}

/** Starts the cluster on a host that was opened with `kubeHost`; resolves when its node is ready and KubeRay runs. */
export async function openLabKube(lab: Lab, host: LabHost): Promise<LabKube> {
  const registries = [registryPort, lockedRegistryPort].map((port) => `${lab.gateway}:${port}`).join(' ');
  const settings = { NAME: host.name, ADDRESS: host.address, REGISTRIES: registries, BIN: programs };
  const words = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  host.spawn(['setsid', 'env', ...words, 'bash', `${programs}-lab/stack.bash`], { user: 'root', stdio: 'ignore' });
  await ready(host);
  const read = (file: string): string => readFileSync(join(host.root, folder, file), 'utf8');
  const adminConfig = read('admin.yaml');
  const kubectl: LabKube['kubectl'] = (words, input = '') =>
    host.must([`${programs}/kubectl`, '--kubeconfig', `${folder}/admin.yaml`, ...words], { user: 'root', input });
  await kubectl(['wait', '--for=condition=Ready', `node/${host.name}`, '--timeout=240s']);
  return {
    host,
    server: `https://${host.name}`,
    adminConfig,
    kubectl,
    userConfig: (user, namespace = 'default') => userConfig(adminConfig, read('tokens.csv'), user, namespace),
    equip: async (target, config = adminConfig) => {
      await target.must('umask 077; mkdir -p ~/.kube; cat > ~/.kube/config', { user: 'root', input: config });
    },
  };
}

/** Each part starts after those that it needs; the script leaves a file when the last one has. */
async function ready(host: LabHost): Promise<void> {
  const deadline = performance.now() + 300_000;
  while (performance.now() < deadline) {
    const { code } = await host.exec('test -e /run/kube-ready', { user: 'root' });
    if (code === 0) return;
    await sleep(200);
  }
  const logs = await host.exec('tail -n 5 /var/log/kube/*.log', { user: 'root' });
  throw new Error(`Kubernetes did not start on ${host.name}: ${logs.stdout.slice(-6_000)}`);
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
