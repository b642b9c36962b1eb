import { HttpClient } from '../../client/http.ts';
import { type GivenAddress, type MeantCluster, settingsOf, type Target, targetFor } from '../../client/target.ts';
import { stateHome } from '../../state/state-folder.ts';
import type { InvocationOf, Io } from '../command.ts';
import type { connectionOptions } from './cluster-options.ts';
import { findHead, kubeMeant } from './find-cluster.ts';

type Connecting = InvocationOf<typeof connectionOptions>;

/** The cluster that is meant, by its file or name, by options and by the environment. */
export async function targetOf(invocation: Connecting, io: Io): Promise<Target> {
  const onKube = kubeMeant(invocation, io);
  if (onKube !== undefined) {
    const { kubeTargetFor } = await import('./kube-cluster.ts');
    return { ...(await kubeTargetFor(onKube, io)), ...settingsOf(invocation.options, io.env) };
  }
  return targetFor(await headMeant(invocation, io), io.env, io.events, invocation.options);
}

/** The file of a cluster of this machine says nothing about where its head is. */
export async function headMeant(invocation: Connecting, io: Io): Promise<MeantCluster | GivenAddress> {
  const meant = await findHead(invocation, io);
  if ('address' in meant || meant.file === undefined) return meant;
  const { isOfOtherMachines } = await import('../../launcher/reach/remote-cluster.ts');
  return isOfOtherMachines({ home: stateHome(io.env), ...meant }) ? meant : { name: meant.name };
}

/** Runs `use` with a connection to the cluster that is meant, and closes it. */
export async function withHead<Value>(
  invocation: Connecting,
  io: Io,
  use: (http: HttpClient) => Promise<Value>,
  signal: AbortSignal = io.signal,
): Promise<Value> {
  const http = new HttpClient(await targetOf(invocation, io), signal);
  try {
    return await use(http);
  } finally {
    http.close();
  }
}
