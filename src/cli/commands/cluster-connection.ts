import { HttpClient } from '../../head/client/http.ts';
import { chooseTarget, type Target } from '../../head/client/target.ts';
import type { Invocation, Io } from '../command.ts';

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
