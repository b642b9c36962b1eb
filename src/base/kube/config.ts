import { existsSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { delimiter, join } from 'node:path';
import { KubeConfig, type User } from '@kubernetes/client-node';
import { messageOf } from '../errors.ts';
import { kubeErrors } from './errors.ts';

export interface KubeChoice {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** @default the current one of the kubeconfig */
  readonly context?: string | undefined;
  /** @default that of the context, else `default` */
  readonly namespace?: string | undefined;
}

/** An API server, and who asks it. */
export interface KubeAccess {
  readonly server: string;
  readonly context: string;
  readonly namespace: string;
  /** What a request needs: certificates, proxy, and a login that is fresh. */
  options(): Promise<RequestOptions>;
}

/** Where pods find the token of their service account. */
const podToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** Finds the cluster that is meant, as kubectl does: files of KUBECONFIG, `~/.kube/config`, the pod this runs in. */
export function openKubeAccess({ env, context, namespace }: KubeChoice): KubeAccess {
  const config = readConfig(env);
  if (context !== undefined) config.setCurrentContext(context);
  const name = config.getCurrentContext();
  const chosen = config.getContextObject(name);
  if (chosen === null) {
    const known = config.getContexts().map((each) => each.name);
    throw kubeErrors.NoContext({ context: name || undefined, known });
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw kubeErrors.Incomplete({ context: name, missing: 'cluster', name: chosen.cluster });
  const user = config.getCurrentUser();
  if (user === null) throw kubeErrors.Incomplete({ context: name, missing: 'user', name: chosen.user });
  tellPlugin(user);
  return {
    server: cluster.server.replace(/\/$/, ''),
    context: name,
    namespace: namespace ?? (chosen.namespace || 'default'),
    options: () => login(config, user, name),
  };
}

function readConfig(env: KubeChoice['env']): KubeConfig {
  const given = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  const files = given.length > 0 ? given : [join(env['HOME'] ?? '', '.kube', 'config')];
  const there = files.filter((file) => existsSync(file));
  const config = new KubeConfig();
  if (there.length === 0) {
    if (given.length > 0 || !existsSync(podToken)) throw kubeErrors.NoConfig({ files });
    config.loadFromCluster();
    return config;
  }
  for (const file of there) {
    const one = new KubeConfig();
    try {
      one.loadFromFile(file);
    } catch (error) {
      throw kubeErrors.BadConfig(
        { file, detail: (error as { readonly reason?: string }).reason ?? messageOf(error) },
        error,
      );
    }
    mergeInto(config, one);
  }
  return config;
}

/** As kubectl does: what is named first counts. */
function mergeInto(config: KubeConfig, more: KubeConfig): void {
  const fresh = <Named extends { readonly name: string }>(known: readonly Named[], all: readonly Named[]): Named[] =>
    all.filter(({ name }) => !known.some((each) => each.name === name));
  config.loadFromOptions({
    clusters: [...config.clusters, ...fresh(config.clusters, more.clusters)],
    users: [...config.users, ...fresh(config.users, more.users)],
    contexts: [...config.contexts, ...fresh(config.contexts, more.contexts)],
    currentContext: config.getCurrentContext() || more.getCurrentContext(),
  });
}

interface Plugin {
  readonly command: string;
  readonly apiVersion?: string;
  readonly installHint?: string;
  env?: { readonly name: string; readonly value: string }[] | null;
}

const pluginOf = (user: User): Plugin | undefined => user.exec as Plugin | undefined;

/** Login plugins are told what is expected of them in a variable, which the package leaves out. */
function tellPlugin(user: User): void {
  const plugin = pluginOf(user);
  if (plugin === undefined) return;
  const apiVersion = plugin.apiVersion ?? 'client.authentication.k8s.io/v1';
  const value = JSON.stringify({ kind: 'ExecCredential', apiVersion, spec: { interactive: false } });
  plugin.env = [...(plugin.env ?? []), { name: 'KUBERNETES_EXEC_INFO', value }];
}

async function login(config: KubeConfig, user: User, context: string): Promise<RequestOptions> {
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    const plugin = pluginOf(user);
    const detail = messageOf(error).trim().split('\n').at(-1) ?? '';
    if (plugin === undefined) throw kubeErrors.LoginFailed({ context, detail }, error);
    const { command, installHint: install } = plugin;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw kubeErrors.NoPlugin({ command, context, install }, error);
    throw kubeErrors.PluginFailed({ command, context, detail: detail || 'it said nothing' }, error);
  }
  return options;
}
