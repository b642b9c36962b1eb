import { HttpClient } from '../../head/client/http.ts';
import { chooseTarget, type Target } from '../../head/client/target.ts';
import type { Invocation, Io, Option } from '../command.ts';

/** Which cluster a command speaks to; the first three as `ray job` has them. */
export const connectionOptions: readonly Option[] = [
  {
    name: 'address',
    value: 'URL',
    summary: 'HTTP address of the head; RAY_API_SERVER_ADDRESS and RAY_ADDRESS win over it, as with ray',
  },
  { name: 'verify', value: 'BOOL|PATH', summary: 'check TLS certificates, against those in PATH', default: 'true' },
  { name: 'headers', value: 'JSON', summary: 'more headers for each request; also RAY_JOB_HEADERS' },
  {
    name: 'cluster-name',
    short: 'n',
    value: 'NAME',
    summary: 'a cluster of this machine; also MANTA_CLUSTER, default the only one that runs',
  },
];

/** The cluster that is meant, by options and environment. */
export function targetOf({ options }: Invocation, io: Io): Target {
  const text = (name: string): string | undefined => options[name] as string | undefined;
  const [address, name, headers, verify] = [text('address'), text('cluster-name'), text('headers'), text('verify')];
  return chooseTarget(
    {
      ...(address !== undefined && { address }),
      ...(name !== undefined && { name }),
      ...(headers !== undefined && { headers }),
      ...(verify !== undefined && { verify }),
    },
    io.env,
    io.events,
  );
}

/** Runs `use` with a connection to the cluster that is meant, and closes it. */
export async function withHead<Value>(
  invocation: Invocation,
  io: Io,
  use: (http: HttpClient) => Promise<Value>,
  signal: AbortSignal = io.signal,
): Promise<Value> {
  const http = new HttpClient(targetOf(invocation, io), signal);
  try {
    return await use(http);
  } finally {
    http.close();
  }
}
