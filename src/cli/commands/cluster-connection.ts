import { HttpClient } from '../../head/client/http.ts';
import { chooseTarget, type Target } from '../../head/client/target.ts';
import type { Invocation, Io } from '../command.ts';
import type { MeantCluster } from './which-cluster.ts';

/** The cluster that is meant, by its file or name, by options and by the environment. */
export async function targetOf(invocation: Invocation, io: Io): Promise<Target> {
  const text = (option: string): string | undefined => invocation.options[option] as string | undefined;
  const [address, headers, verify] = [text('address'), text('headers'), text('verify')];
  const { name, file } =
    invocation.cluster === undefined ? { name: text('cluster-name') } : await meantBy(invocation, io);
  return chooseTarget(
    {
      ...(address !== undefined && { address }),
      ...(name !== undefined && { name }),
      ...(file !== undefined && { file }),
      ...(headers !== undefined && { headers }),
      ...(verify !== undefined && { verify }),
    },
    io.env,
    io.events,
  );
}

/** The code that reads cluster files loads only when one may be meant. */
async function meantBy(invocation: Invocation, io: Io): Promise<MeantCluster> {
  const { whichCluster } = await import('./which-cluster.ts');
  const { isOfOtherMachines } = await import('./up.ts');
  const { name, file } = await whichCluster(invocation, io);
  const remote = file !== undefined && isOfOtherMachines({ ...(name !== undefined && { name }), file }, io);
  return { ...(name !== undefined && { name }), ...(remote && { file }) };
}

/** Runs `use` with a connection to the cluster that is meant, and closes it. */
export async function withHead<Value>(
  invocation: Invocation,
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
