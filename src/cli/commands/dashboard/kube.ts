import type { PodForward } from '../../../base/kube/port-forward.ts';
import { forwardToPod } from '../../../base/kube/port-forward.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import { clientEvents } from '../../../client/events.ts';
import { HttpClient } from '../../../client/http.ts';
import { dashboardPort, kubeHead } from '../../../client/kube.ts';
import { entriesAt, type Json, numberAt, textAt } from '../../../core/kube/object.ts';
import { headPod, headPort, type KubeTarget, mantadOf } from '../../../kube/target.ts';
import { launcherErrors } from '../../../launcher/errors.ts';
import type { Io } from '../../command.ts';
import type { OptionValues } from '../../option-values.ts';
import { type KubeSaid, withKubeTarget } from '../../shared/kube-cluster.ts';
import type { dashboardOptions } from './declaration.ts';

type Options = OptionValues<typeof dashboardOptions>;

/** Holds ports of this machine that lead to the head pod, whichever it is, until Ctrl-C. */
export function holdOnKube(
  said: KubeSaid,
  options: Options,
  io: Io,
  show: (newLink: () => string | Promise<string>) => Promise<void>,
): Promise<number> {
  return withKubeTarget(said, io, async (target) => {
    const http = new HttpClient({ ...kubeHead(target, wallClock), headers: {}, verify: 'true' }, io.signal);
    const held: PodForward[] = [];
    try {
      const mantad = await mantadOf(target, io.signal);
      const far = mantad?.port ?? (await headPort(target, dashboardPort, io.signal));
      const ports = [
        { near: options.port, far: options.remotePort === dashboardPort.usual ? far : options.remotePort },
        ...(options.portForward ?? []).map((port) => ({ near: port, far: port })),
      ];
      for (const port of ports) held.push(...(await holdPort(target, port, io)));
      const page = `http://localhost:${options.port}`;
      await show(mantad === undefined ? () => page : () => signedIn(page, http));
      if (!io.json) io.out(await addressWords(http, options.portForward ?? []));
      if (!io.json) io.out('The ports stay open until Ctrl-C, also when the head pod is replaced.\n');
      await new Promise<void>((resolve) => io.signal.addEventListener('abort', () => resolve(), { once: true }));
      return 0;
    } finally {
      for (const each of held) each.close();
      http.close();
    }
  });
}

async function signedIn(page: string, http: HttpClient): Promise<string> {
  const { ticket } = await http.json<{ ticket: string }>('POST', '/api/manta/v1/tickets');
  return `${page}/manta/?ticket=${encodeURIComponent(ticket)}`;
}

/** Both addresses that `localhost` can mean; the second is not there on every machine. */
async function holdPort(
  target: KubeTarget,
  { near, far }: { readonly near: number; readonly far: number },
  io: Io,
): Promise<PodForward[]> {
  let told = '';
  const hold = (host: string): Promise<PodForward | undefined> =>
    forwardToPod({
      client: target.client,
      clock: wallClock,
      pod: (signal) => headPod(target, signal),
      port: far,
      here: { host, port: near },
      signal: io.signal,
      onFailure: ({ message }) => {
        if (message !== told) io.events.emit(clientEvents.podLost, { port: near, why: message });
        told = message;
      },
    });
  const four = await hold('127.0.0.1');
  if (four === undefined) throw launcherErrors.PortTaken({ port: near });
  const six = await hold('::1').catch(() => undefined);
  return six === undefined ? [four] : [four, six];
}

/** Where Serve's applications are, by what Serve itself says; a port that is not Serve's is only named. */
async function addressWords(http: HttpClient, ports: readonly number[]): Promise<string> {
  if (ports.length === 0) return '';
  const answer = await http
    .json<Json>('GET', '/api/serve/applications/')
    // Older Ray, no Serve, or a dashboard that is not up yet: the ports are there all the same.
    .catch((): Json => ({}));
  const servePort = numberAt(answer, 'http_options', 'port') ?? 8000;
  return ports
    .map((port) => {
      const base = `http://localhost:${port}`;
      return port === servePort ? serveWords(base, answer) : `${base}/\n`;
    })
    .join('');
}

function serveWords(base: string, answer: Json): string {
  const applications = entriesAt(answer, 'applications').map(([name, facts]) => {
    const route = textAt(facts, 'route_prefix') ?? '/';
    const docs = textAt(facts, 'docs_path');
    const own = `${base}${route}`;
    return `${own}  ${name}${docs === undefined ? '' : `, docs at ${own.replace(/\/$/, '')}${docs.startsWith(route) && route !== '/' ? docs.slice(route.length) : docs}`}\n`;
  });
  return applications.length === 0 ? `${base}/\n${base}/docs\n` : applications.join('');
}
