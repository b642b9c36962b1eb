import { type CheckLine, checkCluster } from '../../../core/kube/check.ts';
import { roleManifest } from '../../../core/kube/permissions.ts';
import { lookAtCluster } from '../../../kube/look.ts';
import type { Io, Run } from '../../command.ts';
import { printable } from '../../render/renderer.ts';
import { styleFor } from '../../render/style.ts';
import { withKube } from './connect.ts';
import type { kubeCheckOptions } from './declaration.ts';

export const run: Run<typeof kubeCheckOptions> = async ({ options }, io) => {
  if (options.rbac) {
    io.out(roleManifest(options.namespace ?? 'default'));
    return 0;
  }
  return await withKube(options, io, async (client) => {
    const checks = checkCluster(await lookAtCluster(client, io.signal));
    const { server, context, namespace } = client.access;
    io.out(io.json ? `${JSON.stringify({ server, context, namespace, checks })}\n` : checkText(checks, io));
    return checks.some(({ state }) => state === 'failed') ? 1 : 0;
  });
};

const signs: Readonly<Record<CheckLine['state'], string>> = { ok: '✓', warning: '!', failed: '✗', unknown: '?' };

function checkText(checks: readonly CheckLine[], io: Io): string {
  const style = styleFor(io.color);
  const paints = { ok: style.green, warning: style.yellow, failed: style.red, unknown: style.yellow };
  const width = Math.max(...checks.map(({ what }) => what.length));
  return checks
    .flatMap(({ what, state, says, next }) => [
      `${paints[state](signs[state])} ${what.padEnd(width)}  ${printable(says)}`,
      ...(next === undefined ? [] : [`  ${' '.repeat(width)}  ${printable(next)}`]),
    ])
    .map((line) => `${line}\n`)
    .join('');
}
