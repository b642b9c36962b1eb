import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { wallClock } from '../../../base/time/wall-clock.ts';
import { manifestErrors } from '../../../core/kube/errors.ts';
import { fittingRelease, helmReleaseOf, installOrder, releaseText } from '../../../core/kube/install.ts';
import type { Manifest } from '../../../core/kube/manifest.ts';
import { type Json, textAt } from '../../../core/kube/object.ts';
import { type Applying, applyPlanned, type Planned, planApply } from '../../../kube/apply.ts';
import { kubeEvents } from '../../../kube/events.ts';
import { waitForInstalled } from '../../../kube/install.ts';
import { KubePaths } from '../../../kube/paths.ts';
import type { Io, Run } from '../../command.ts';
import { confirmed } from '../../confirm.ts';
import { isWebAddress } from '../../shared/open-file.ts';
import { withKube } from './connect.ts';
import type { kubeInstallOptions } from './declaration.ts';
import { openManifests } from './manifests.ts';
import { effects, planJson, planText } from './plan-text.ts';

export const run: Run<typeof kubeInstallOptions> = async ({ args, options }, io) => {
  const [source] = args;
  const manifests =
    source === undefined ? undefined : installOrder(await openManifests(await filesOf(source, io), io, () => []));
  return await withKube(options, io, async (client) => {
    const { signal, events } = io;
    if (manifests === undefined) {
      const version = await client.json({ path: '/version', call: 'read the version of the API server', signal });
      const release = fittingRelease(textAt(version as Json, 'gitVersion') ?? '');
      io.out(io.json ? `${JSON.stringify({ release })}\n` : releaseText(release));
      return 0;
    }
    const applying: Applying = {
      client,
      resources: new KubePaths(client),
      force: options.forceConflicts,
      fresh: new Set(manifests.filter(({ kind }) => kind === 'Namespace').map(({ name }) => name)),
      signal,
    };
    const planned = await planAll(manifests, applying);
    io.out(
      io.json ? `${JSON.stringify({ plan: planned.map(planJson) })}\n` : planned.map((each) => planText(each)).join(''),
    );
    if (options.plan) return 0;
    const changed = planned.filter(({ change }) => change.effect !== 'unchanged');
    const nobody = () => manifestErrors.NobodyAgreed({ objects: changed.length });
    if (changed.length > 0 && !(await confirmed('Install this?', options.yes, io, { nobody }))) {
      io.out('Nothing was installed.\n');
      return 1;
    }
    for (const each of planned) {
      await applyPlanned(each, applying);
      const { kind, name } = each.manifest;
      events.emit(kubeEvents.applied, { kind, name, effect: effects[each.change.effect] });
      if (options.wait)
        await waitForInstalled(each, { client, clock: wallClock, timeout: options.timeout * 1_000, signal });
    }
    return 0;
  });
};

/** A schema differs in thousands of places: that it differs is enough. */
const shortened = (planned: Planned): Planned =>
  planned.manifest.kind === 'CustomResourceDefinition'
    ? { ...planned, change: { ...planned.change, differences: [] } }
    : planned;

/** What belongs to a Helm release is left to Helm. */
async function planAll(manifests: readonly Manifest[], applying: Applying): Promise<readonly Planned[]> {
  const planned: Planned[] = [];
  for (const manifest of manifests) {
    const each = await planApply(manifest, applying);
    const release = helmReleaseOf(manifest.kind, each.live);
    if (release !== undefined && each.change.effect !== 'unchanged')
      throw manifestErrors.Helm({ kind: manifest.kind, name: manifest.name, release });
    planned.push(shortened(each));
  }
  return planned;
}

/** All manifests of a folder; one that has to be rendered first is refused by its own words. */
async function filesOf(source: string, io: Io): Promise<readonly string[]> {
  if (source === '-' || isWebAddress(source)) return [source];
  const path = resolve(io.cwd, source);
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return [source];
  const names = (await readdir(path)).toSorted();
  if (names.some((name) => /^kustomization\.ya?ml$/.test(name))) throw manifestErrors.Kustomize({ folder: source });
  if (names.includes('Chart.yaml')) throw manifestErrors.Chart({ folder: source });
  const files = names.filter((name) => /\.(?:ya?ml|json)$/.test(name)).map((name) => join(source, name));
  if (files.length === 0) throw manifestErrors.Empty({ file: source });
  return files;
}
