import { spawn } from 'node:child_process';
import type { Io, Run } from '../command.ts';
import { withHead } from './cluster-connection.ts';

export const run: Run = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const { ticket } = await http.json<{ ticket: string }>('POST', '/api/manta/v1/tickets');
    const { url } = await http.target.place(io.signal);
    const link = `${url}/?ticket=${encodeURIComponent(ticket)}`;
    io.out(io.json ? `${JSON.stringify({ url: link })}\n` : `${link}\n`);
    if (invocation.options['no-open'] !== true && !io.json && io.terminal) openBrowser(link, io);
    return 0;
  });

/** Tries to; where there is no browser the link is on the screen. */
function openBrowser(link: string, { env }: Io): void {
  const screen = process.platform === 'darwin' || env['DISPLAY'] || env['WAYLAND_DISPLAY'];
  if (!screen) return;
  const child = spawn(process.platform === 'darwin' ? 'open' : 'xdg-open', [link], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
