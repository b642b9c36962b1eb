import { ServeOnHead } from '../../../client/serve.ts';
import { entriesAt, type Json, listAt, numberAt, textAt } from '../../../core/kube/object.ts';
import { plainText } from '../../../core/serve/progress.ts';
import type { Run } from '../../command.ts';
import { printable } from '../../render/renderer.ts';
import { withHead } from '../../shared/cluster-connection.ts';
import type { connectionOptions } from '../../shared/cluster-options.ts';

export const run: Run<typeof connectionOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const details = await new ServeOnHead(http).details();
    io.out(io.json ? `${JSON.stringify(details)}\n` : statusText(details));
    const all = entriesAt(details, 'applications').every(([, app]) => textAt(app, 'status') === 'RUNNING');
    return all ? 0 : 1;
  });

export function statusText(details: Json): string {
  const applications = entriesAt(details, 'applications');
  if (applications.length === 0)
    return textAt(details, 'controller_info', 'actor_name') === undefined
      ? 'Serve does not run on this cluster.\n'
      : 'Serve runs without applications.\n';
  const proxies = entriesAt(details, 'proxies');
  const healthy = proxies.filter(([, proxy]) => textAt(proxy, 'status') === 'HEALTHY').length;
  const host = textAt(details, 'http_options', 'host') ?? '';
  const port = numberAt(details, 'http_options', 'port') ?? 8000;
  const heading = `Serve listens at ${host}:${port} on ${healthy} of ${proxies.length} nodes\n`;
  return heading + applications.map(([name, app]) => applicationText(name, app)).join('');
}

function applicationText(name: string, app: Json): string {
  const route = textAt(app, 'route_prefix') ?? 'no route';
  const said = plainText(textAt(app, 'message') ?? '');
  const lines = [
    `application '${name}' at ${route}: ${textAt(app, 'status') ?? ''}`,
    ...indented(said),
    ...entriesAt(app, 'deployments').flatMap(([deployment, each]) => {
      const running = listAt(each, 'replicas').filter((replica) => textAt(replica, 'state') === 'RUNNING').length;
      const wanted = numberAt(each, 'target_num_replicas') ?? running;
      const words = plainText(textAt(each, 'message') ?? '');
      return [`  ${deployment}: ${textAt(each, 'status') ?? ''}, ${running} of ${wanted} replicas`, ...indented(words)];
    }),
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

const indented = (words: string): readonly string[] =>
  words === ''
    ? []
    : words
        .split('\n')
        .slice(-12)
        .map((line) => `    ${line}`);
