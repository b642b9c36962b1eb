import { isText } from '../../../core/spec/plain.ts';
import { lastOf } from '../client/links.ts';
import { preparationErrors } from '../errors.ts';
import { isAbsent, isDenied } from './refused.ts';
import type { GoogleScene, Looked } from './scene.ts';

/** What a project says of itself. */
export interface ProjectLook extends Looked {
  readonly number: string;
  /** The account of machines that name none; undefined where the project has none. */
  readonly defaultAccount: string | undefined;
  /** What its metadata say to every instance. */
  readonly metadata: ReadonlyMap<string, string>;
}

interface ProjectAnswer {
  readonly id?: string;
  readonly defaultServiceAccount?: string;
  readonly commonInstanceMetadata?: { readonly items?: readonly { readonly key?: string; readonly value?: string }[] };
}

/** The project of the file, else that of the credentials. Projects are never made. */
export async function lookAtProject(scene: GoogleScene): Promise<ProjectLook> {
  const { project, projectIsOfLogin } = scene;
  const found = await askProject(scene);
  const items = found.commonInstanceMetadata?.items ?? [];
  return {
    number: found.id ?? '',
    defaultAccount: isText(found.defaultServiceAccount) ? found.defaultServiceAccount : undefined,
    metadata: new Map(items.map(({ key = '', value = '' }) => [key, value])),
    steps: [
      {
        what: 'project',
        action: 'found',
        id: project,
        ...(projectIsOfLogin && { note: 'of your credentials: the file names none' }),
      },
    ],
    warnings: [],
  };
}

async function askProject(scene: GoogleScene): Promise<ProjectAnswer> {
  const { project } = scene;
  // What cannot be the name of a project is a placeholder.
  if (!/^(?:[a-z0-9.-]+:)?[a-z0-9][a-z0-9-]*$/.test(project)) throw preparationErrors.NoProject({ project });
  try {
    return await scene.ask<ProjectAnswer>({ call: 'compute.projects.get', url: scene.compute('') });
  } catch (error) {
    if (isAbsent(error)) throw preparationErrors.NoProject({ project }, error);
    throw error;
  }
}

/** Zones where the cluster may go, in the order of the file, else all of the region. */
export async function lookAtZones(scene: GoogleScene): Promise<readonly string[]> {
  const { region } = scene;
  const zones = await zonesOf(scene);
  const asked = [...new Set(scene.spec.nodeTypes.flatMap(({ offers }) => offers.flatMap(({ zone }) => zone ?? [])))];
  const { availability_zone: given } = scene.spec.provider.config;
  const named = isText(given) ? given.split(',').map((zone) => zone.trim()) : [];
  const all = [...new Set([...named, ...asked])].filter((zone) => zone !== '');
  const outside = all.find((zone) => !zones.includes(zone));
  if (outside !== undefined)
    throw preparationErrors.ZoneOutside({ at: ['provider', 'availability_zone'], zone: outside, region, zones });
  return all.length > 0 ? all : zones;
}

async function zonesOf(scene: GoogleScene): Promise<readonly string[]> {
  const { region } = scene;
  try {
    const { zones = [] } = await scene.ask<{ readonly zones?: readonly string[] }>({
      call: 'compute.regions.get',
      url: scene.compute(`regions/${encodeURIComponent(region)}`),
    });
    return zones.map(lastOf).sort();
  } catch (error) {
    if (!isAbsent(error)) throw error;
    throw preparationErrors.UnknownRegion({ at: ['provider', 'region'], region, instead: await others(scene) }, error);
  }
}

/** Regions whose names are most like one that does not exist. */
async function others(scene: GoogleScene): Promise<readonly string[]> {
  try {
    const regions = await scene.askAll<{ readonly name?: string }>('items', {
      call: 'compute.regions.list',
      url: scene.compute('regions'),
    });
    const [start, end] = [scene.region.slice(0, 2), scene.region.split('-').at(-1) ?? ''];
    const names = regions.flatMap(({ name }) => name ?? []);
    return names.filter((name) => name.startsWith(start) && name.endsWith(end)).slice(0, 5);
  } catch (error) {
    if (isDenied(error)) return [];
    throw error;
  }
}
