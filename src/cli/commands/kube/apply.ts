import { redactTexts } from '../../../base/redact.ts';
import { wallClock } from '../../../base/time/wall-clock.ts';
import { manifestErrors } from '../../../core/kube/errors.ts';
import { applyPlanned, type Planned, planApply } from '../../../kube/apply.ts';
import { kubeEvents } from '../../../kube/events.ts';
import { KubePaths } from '../../../kube/paths.ts';
import { waitForCluster } from '../../../kube/wait-cluster.ts';
import type { Run } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import { printable } from '../../render/renderer.ts';
import { withKube } from './connect.ts';
import type { kubeApplyOptions } from './declaration.ts';
import { openManifests } from './manifests.ts';
import { addScaler } from './scaler.ts';

export const run: Run<typeof kubeApplyOptions> = async ({ args, options }, io) => {
  const given = await openManifests(args, io);
  return await withKube(options, io, async (client) => {
    const { signal, events } = io;
    const manifests = options.scaler === undefined ? given : await addScaler(given, options, client, io);
    const applying = { client, resources: new KubePaths(client), force: options.forceConflicts, signal };
    const planned: Planned[] = [];
    for (const manifest of manifests) planned.push(await planApply(manifest, applying));
    const changed = planned.filter(({ change }) => change.effect !== 'unchanged');
    io.out(io.json ? `${JSON.stringify({ plan: planned.map(planJson) })}\n` : planned.map(planText).join(''));
    if (options.plan) return 0;
    const nobody = () => manifestErrors.NobodyAgreed({ objects: changed.length });
    if (changed.length > 0 && !(await confirmed('Apply this?', options.yes, io, { nobody }))) {
      io.out('Nothing was applied.\n');
      return 1;
    }
    for (const each of planned) {
      await applyPlanned(each, applying);
      const { kind, name } = each.manifest;
      events.emit(kubeEvents.applied, { kind, name, effect: effects[each.change.effect] });
    }
    if (options.wait)
      for (const { manifest, namespace, change } of planned)
        if (manifest.kind === 'RayCluster')
          await waitForCluster(
            { namespace, name: manifest.name, isReplaced: change.effect === 'new pods' },
            { client, clock: wallClock, events, timeout: options.timeout * 1_000, signal },
          );
    return 0;
  });
};

const effects: Readonly<Record<Planned['change']['effect'], string>> = {
  created: 'created',
  unchanged: 'unchanged',
  'in place': 'changed in place',
  'new pods': 'all its pods are replaced',
  'nothing will happen':
    'changed, and running pods stay as they are: delete and create it, or set upgradeStrategy.type: Recreate',
  changed: 'changed',
};

/** Longer values are for `kubectl get -o yaml`. */
const longest = 80;

function planText({ manifest, change }: Planned): string {
  const shown = (value: unknown): string => {
    const text = value === undefined ? '(not set)' : JSON.stringify(value);
    return printable(text.length > longest ? `${text.slice(0, longest)}…` : text);
  };
  const lines = planJson({ manifest, change }).differences.map(
    ({ path, from, to }) => `    ${path}: ${shown(from)} -> ${shown(to)}\n`,
  );
  return `${manifest.kind} '${manifest.name}': ${effects[change.effect]}\n${lines.join('')}`;
}

const planJson = ({ manifest, change }: Pick<Planned, 'manifest' | 'change'>) => ({
  kind: manifest.kind,
  name: manifest.name,
  effect: change.effect,
  differences: redactTexts(change.differences),
});
