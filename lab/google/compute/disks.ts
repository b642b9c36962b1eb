import type { Disk } from '../../cloud/belongings.ts';
import { type Caller, handlers, type Request, textAt } from '../caller.ts';
import { googleError } from '../errors.ts';
import type { Image } from '../images.ts';
import { fingerprintOf, lastOf, linkOf, numberOf, regionOfZone, time } from '../names.ts';
import { aggregatedOf, listOf } from '../paging.ts';

const nameOf = ({ world }: Caller, disk: Disk): string => world.diskNames.get(disk.id) ?? disk.id;

function writeDisk(caller: Caller, disk: Disk): object {
  const zone = `projects/${caller.projectId}/zones/${disk.zone}`;
  const user = disk.instance === undefined ? undefined : caller.world.cloud.instance(disk.instance)?.name;
  return {
    kind: 'compute#disk',
    id: numberOf(disk.id),
    name: nameOf(caller, disk),
    creationTimestamp: time(disk.createdAt),
    sizeGb: String(disk.gib),
    type: linkOf(`${zone}/diskTypes/${disk.kind}`),
    status: 'READY',
    ...(disk.image !== undefined && { sourceImage: linkOf(disk.image) }),
    ...(Object.keys(disk.tags).length > 0 && { labels: disk.tags }),
    labelFingerprint: fingerprintOf(disk.tags),
    ...(user !== undefined && { users: [linkOf(`${zone}/instances/${user}`)] }),
    zone: linkOf(zone),
    selfLink: linkOf(`${zone}/disks/${nameOf(caller, disk)}`),
  };
}

function named({ path }: Request, caller: Caller, permission: string): Disk {
  const [zone, name] = [path.get('zone')!, path.get('disk')!];
  const whole = `projects/${caller.projectId}/zones/${zone}/disks/${name}`;
  caller.may(permission, whole);
  const all = caller.world.cloud.has.disks.of(caller.projectId);
  const found = all.find((disk) => disk.zone === zone && nameOf(caller, disk) === name);
  if (found === undefined) throw googleError('notFound', `The resource '${whole}' was not found`);
  return found;
}

function operate(request: Request, caller: Caller, type: string, name: string, act: () => void): object {
  const { project, bearer } = caller;
  const zone = request.path.get('zone')!;
  return project.operations
    .once(textAt(request.query, 'requestId'), () => {
      act();
      const order = { type, project: project.id, scope: `zones/${zone}`, target: `zones/${zone}/disks/${name}` };
      const operation = project.operations.begin({ ...order, user: bearer.email });
      queueMicrotask(() => operation.finish());
      return operation;
    })
    .shown();
}

const writeImage = ({ project, name, family, gib, arm, createdAt }: Image): object => ({
  kind: 'compute#image',
  id: numberOf(`${project}/${name}`),
  name,
  ...(family !== undefined && { family }),
  creationTimestamp: time(createdAt),
  diskSizeGb: String(gib),
  architecture: arm ? 'ARM64' : 'X86_64',
  status: 'READY',
  sourceType: 'RAW',
  selfLink: linkOf(`projects/${project}/global/images/${name}`),
});

/** Images of others are read by everybody; those of a project by those who may. */
function image({ path }: Request, caller: Caller, what: string): object {
  const project = path.get('project')!;
  if (caller.world.projects.has(project)) caller.may('compute.images.get', `projects/${project}/${what}`);
  else caller.free();
  const found = caller.world.image(project, `projects/${project}/${what}`);
  if (found === undefined) throw googleError('notFound', `The resource 'projects/${project}/${what}' was not found`);
  return writeImage(found);
}

export const diskHandlers = handlers({
  'disks.list': (request: Request, caller) => {
    const zone = request.path.get('zone')!;
    const path = `projects/${caller.projectId}/zones/${zone}/disks`;
    caller.may('compute.disks.list', path);
    const all = caller.world.cloud.has.disks.of(caller.projectId).filter((disk) => disk.zone === zone);
    return listOf(
      request,
      caller.world.cloud.settings.page_size,
      { kind: 'diskList', path },
      all.map((disk) => writeDisk(caller, disk)),
    );
  },

  'disks.aggregatedList': (request: Request, caller) => {
    caller.may('compute.disks.list');
    const about = { kind: 'diskAggregatedList', path: `projects/${caller.projectId}/aggregated/disks`, part: 'disks' };
    const items = caller.world.cloud.has.disks
      .of(caller.projectId)
      .map((disk) => ({ scope: `zones/${disk.zone}`, item: writeDisk(caller, disk) }));
    return aggregatedOf(request, caller.world.cloud.settings.page_size, about, items);
  },

  'disks.get': (request: Request, caller) => writeDisk(caller, named(request, caller, 'compute.disks.get')),

  'disks.insert': (
    request: Request<{ name: string; sizeGb?: string; type?: string; labels?: Record<string, string> }>,
    caller,
  ) => {
    const { name, sizeGb = '500', type = 'pd-standard', labels = {} } = request.body;
    const zone = request.path.get('zone')!;
    caller.may('compute.disks.create', `projects/${caller.projectId}/zones/${zone}/disks/${name}`);
    return operate(request, caller, 'insert', name, () => {
      const { world, projectId } = caller;
      const id = `disk-${numberOf(`${projectId}/${zone}/${name}/${world.now()}`)}`;
      const base = { account: projectId, region: regionOfZone(zone), zone, createdAt: world.now(), tags: labels };
      const disk = { device: name, gib: Number(sizeGb), kind: lastOf(type), deleteWithInstance: false };
      world.cloud.has.disks.add({ id, ...base, ...disk, instance: undefined });
      world.diskNames.set(id, name);
    });
  },

  'disks.delete': (request: Request, caller) => {
    const disk = named(request, caller, 'compute.disks.delete');
    const name = nameOf(caller, disk);
    if (disk.instance !== undefined) {
      const [path, user] = [
        `projects/${caller.projectId}/zones/${disk.zone}`,
        caller.world.cloud.instance(disk.instance)?.name,
      ];
      throw googleError(
        'resourceInUseByAnotherResource',
        `The disk resource '${path}/disks/${name}' is already being used by '${path}/instances/${user}'`,
      );
    }
    return operate(request, caller, 'delete', name, () => caller.world.cloud.has.disks.delete(disk.id));
  },

  'images.get': (request: Request, caller) => image(request, caller, `global/images/${request.path.get('image')}`),
  'images.getFromFamily': (request: Request, caller) =>
    image(request, caller, `global/images/family/${request.path.get('family')}`),

  'images.list': (request: Request, caller) => {
    const project = request.path.get('project')!;
    if (caller.world.projects.has(project)) caller.may('compute.images.list');
    else caller.free();
    const all = caller.world.images.filter((each) => each.project === project).map(writeImage);
    return listOf(request, 500, { kind: 'imageList', path: `projects/${project}/global/images` }, all);
  },
});
