import { type Caller, handlers, type Request, textAt } from '../caller.ts';
import { googleError } from '../errors.ts';
import { fingerprintOf, linkOf, time } from '../names.ts';
import { listOf } from '../paging.ts';
import type { Template } from '../project.ts';
import type { MetadataBody } from '../shapes.ts';
import { checkFingerprint, checkMetadata, metadataChanged, writeMetadata } from './metadata.ts';
import { writeQuotas } from './quotas.ts';

const metadataOf = ({ project }: Caller): { readonly fingerprint: string } =>
  writeMetadata(project.metadata, 0) as { fingerprint: string };

const writeTemplate = ({ projectId }: Caller, { name, id, createdAt, properties }: Template): object => ({
  kind: 'compute#instanceTemplate',
  id,
  name,
  creationTimestamp: time(createdAt),
  properties: {
    ...properties,
    ...(properties.metadata && {
      metadata: { ...properties.metadata, fingerprint: fingerprintOf(properties.metadata) },
    }),
  },
  selfLink: linkOf(`projects/${projectId}/global/instanceTemplates/${name}`),
});

export const projectHandlers = handlers({
  'projects.get': (_: Request, caller) => {
    caller.may('compute.projects.get');
    const { project, world } = caller;
    return {
      kind: 'compute#project',
      id: String(project.number),
      name: project.id,
      creationTimestamp: time(project.createdAt),
      commonInstanceMetadata: metadataOf(caller),
      quotas: writeQuotas(world, project, undefined),
      defaultServiceAccount: project.computeAccount,
      defaultNetworkTier: 'PREMIUM',
      xpnProjectStatus: 'UNSPECIFIED_XPN_PROJECT_STATUS',
      selfLink: linkOf(`projects/${project.id}`),
    };
  },

  'projects.setCommonInstanceMetadata': (request: Request<MetadataBody>, caller) => {
    caller.may('compute.projects.setCommonInstanceMetadata');
    const { project, bearer } = caller;
    return project.operations
      .once(textAt(request.query, 'requestId'), () => {
        const items = checkMetadata(request.body, 'metadata');
        checkFingerprint(request.body.fingerprint, metadataOf(caller).fingerprint, metadataChanged);
        project.metadata = items;
        caller.world.tellMetadata();
        const order = {
          type: 'compute.projects.setCommonInstanceMetadata',
          project: project.id,
          scope: 'global',
          target: '',
        };
        const operation = project.operations.begin({ ...order, user: bearer.email });
        queueMicrotask(() => operation.finish());
        return operation;
      })
      .shown();
  },

  'instanceTemplates.get': (request: Request, caller) => {
    const name = request.path.get('instanceTemplate')!;
    const path = `projects/${caller.projectId}/global/instanceTemplates/${name}`;
    caller.may('compute.instanceTemplates.get', path);
    const found = caller.project.templates.get(name);
    if (found === undefined) throw googleError('notFound', `The resource '${path}' was not found`);
    return writeTemplate(caller, found);
  },

  'instanceTemplates.list': (request: Request, caller) => {
    caller.may('compute.instanceTemplates.list');
    const all = [...caller.project.templates.values()].map((each) => writeTemplate(caller, each));
    return listOf(
      request,
      500,
      { kind: 'instanceTemplateList', path: `projects/${caller.projectId}/global/instanceTemplates` },
      all,
    );
  },
});
