// needs: openssl, ray, hosts, podman, kube

/** `manta kube check` against a real API server with RBAC. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { CheckLine } from '../../src/core/kube/check.ts';
import { until } from '../contract/waiting.ts';
import { KubeBed, kubeProblem } from './kube-bed.ts';

describe('manta kube check', { skip: kubeProblem() ?? false }, () => {
  let bed: KubeBed;
  before(async () => {
    bed = await KubeBed.open();
  });
  after(() => bed?.close());

  async function check(words: readonly string[] = [], config?: string) {
    const { code, stdout, stderr } = await bed.run(['kube', 'check', '--json', ...words], config);
    assert.notEqual(stdout, '', stderr);
    const { checks } = JSON.parse(stdout) as { readonly checks: readonly CheckLine[] };
    const line = (what: string): CheckLine => checks.find((each) => each.what === what)!;
    return { code, line };
  }

  const namespace = (name: string, labels = '{}'): Promise<string> =>
    bed.apply(`{apiVersion: v1, kind: Namespace, metadata: {name: ${name}, labels: ${labels}}}`);

  test('finds nothing wrong with a cluster that runs KubeRay, but for what it cannot see', async () => {
    const { code, line } = await check();
    assert.equal(code, 0);
    assert.match(line('API server').says, /^https:\/\/h1, Kubernetes v1\.35\.4/);
    assert.match(line('CRDs').says, /rayservices$/);
    assert.match(line('nodes').says, /^1 of 1 ready/);
    assert.deepEqual([line('permissions').state, line('operator').state], ['ok', 'warning']);
  });

  test('the role that it prints is enough for someone who may do nothing else', async () => {
    await namespace('team');
    const config = bed.kube.userConfig('ada', 'team');
    const without = await check([], config);
    assert.equal(without.code, 1);
    assert.match(without.line('permissions').says, /you may not .*list.* pods\b.* in 'team'/);
    assert.equal(without.line('nodes').state, 'unknown');
    const { stdout: role } = await bed.run(['kube', 'check', '--rbac', '--namespace', 'team']);
    await bed.apply(role.split('---\n')[0]!);
    await bed.apply(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: manta, namespace: team}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: manta}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ada}]`);
    const allowed = await until('the role is in force', async () => {
      const seen = await check([], config);
      return seen.line('permissions').state === 'ok' && seen;
    });
    assert.equal(allowed.code, 0);
    assert.equal(allowed.line('namespace').says, "'team', as the user 'ada'");
  });

  test('tells quotas, Pod Security, a missing namespace and an operator that is down', async () => {
    await namespace('tight', '{pod-security.kubernetes.io/enforce: restricted}');
    await bed.apply(
      '{apiVersion: v1, kind: ResourceQuota, metadata: {name: none, namespace: tight}, spec: {hard: {pods: "0"}}}',
    );
    await until('the quota has a status', async () => {
      const { line } = await check(['--namespace', 'tight']);
      return /pods 0 of 0/.test(line('quota').says) && line('quota').state === 'warning';
    });
    const tight = await check(['--namespace', 'tight']);
    assert.match(tight.line('pod security').says, /'restricted'/);
    const missing = await check(['--namespace', 'nowhere']);
    assert.deepEqual([missing.code, missing.line('namespace').state], [1, 'failed']);
    const labels = '{app.kubernetes.io/name: kuberay-operator}';
    await bed.apply(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: kuberay-operator, namespace: default, labels: ${labels}}
spec:
  replicas: 0
  selector: {matchLabels: ${labels}}
  template:
    metadata: {labels: ${labels}}
    spec: {containers: [{name: operator, image: "quay.io/kuberay/operator:v1.6.2"}]}`);
    const down = await check();
    assert.equal(down.line('operator').says, 'KubeRay 1.6.2 in default/kuberay-operator is not running');
    await bed.kube.kubectl(['delete', 'deployment', 'kuberay-operator']);
  });

  test('an expired login, a missing plugin, a strange certificate and a server that does not answer each have their own words', async () => {
    const admin = bed.kube.adminConfig;
    const withUser = (user: string): string => admin.replace(/^users:.*$/m, `users: [{name: admin, user: ${user}}]`);
    const failure = async (config?: string): Promise<string> => {
      const { code, stderr } = await bed.run(['kube', 'check'], config);
      return `${code} ${/MANTA_KUBE_\w+/.exec(stderr)?.[0] ?? stderr}`;
    };
    assert.equal(await failure(withUser('{token: of-yesterday}')), '4 MANTA_KUBE_LOGIN_REFUSED');
    const plugin = '{exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-plugin}}';
    assert.equal(await failure(withUser(plugin)), '3 MANTA_KUBE_NO_PLUGIN');
    const strange = admin.replace(/certificate-authority-data: \S+(?=\}\})/, 'insecure-skip-tls-verify: false');
    assert.equal(await failure(strange), '4 MANTA_KUBE_UNTRUSTED');
    await bed.kube.host.exec('iptables -I INPUT -p tcp --dport 443 -j REJECT --reject-with tcp-reset');
    assert.equal(await failure(), '6 MANTA_KUBE_UNREACHABLE');
    await bed.kube.host.exec('iptables -D INPUT 1');
    assert.match(await failure(), /^0 /);
  });
});
