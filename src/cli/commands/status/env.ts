import { tunnelOf } from '../../../client/tunnel.ts';
import { launcherErrors } from '../../../launcher/errors.ts';
import type { Run } from '../../command.ts';
import { quoted } from '../../quote.ts';
import { targetOf } from '../../shared/cluster-connection.ts';
import type { envOptions } from './declaration.ts';

const names = ['RAY_API_SERVER_ADDRESS', 'RAY_AUTH_MODE', 'RAY_AUTH_TOKEN'] as const;

export const run: Run<typeof envOptions> = async (invocation, io) => {
  if (invocation.options.unset) {
    io.out(io.json ? `${JSON.stringify({ unset: names })}\n` : `unset ${names.join(' ')}\n`);
    return 0;
  }
  const target = await targetOf(invocation, io);
  const { url: there, token, socket } = await target.place(io.signal);
  const port = socket === undefined || target.folder === undefined ? undefined : tunnelOf(target.folder);
  await target.close?.();
  if (socket !== undefined && port === undefined) throw launcherErrors.NoTunnel({ name: target.folder?.name ?? '' });
  const url = port === undefined ? there : `http://127.0.0.1:${port}`;
  // RAY_ADDRESS stays as it is: to Python programs it names a GCS, which the embedded engine has none of.
  const values: Record<string, string> = {
    RAY_API_SERVER_ADDRESS: url,
    ...(token !== undefined && { RAY_AUTH_MODE: 'token', RAY_AUTH_TOKEN: token }),
  };
  const lines = Object.entries(values).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  io.out(io.json ? `${JSON.stringify(values)}\n` : lines.join(''));
  return 0;
};
