import type {
  LaunchTemplateSpecification,
  RequestLaunchTemplateData,
  ResponseLaunchTemplateData,
  RunInstancesRequest,
} from '@aws-sdk/client-ec2';
import type { Caller } from '../caller.ts';
import { awsError } from '../errors.ts';
import type { Ec2Handlers } from '../handlers.ts';
import type { LaunchTemplate } from '../world.ts';
import { byIds, filterBy, mayCreate, mayTouch, pageOf, specifiedTags, writeTags } from './listing.ts';

const all = ({ world, account, region }: Caller): readonly LaunchTemplate[] => world.templates.of(account, region);

interface Named {
  readonly LaunchTemplateId?: string | undefined;
  readonly LaunchTemplateName?: string | undefined;
}

function find(caller: Caller, { LaunchTemplateId: id, LaunchTemplateName: name }: Named): LaunchTemplate {
  if ((id === undefined) === (name === undefined))
    throw awsError(
      'MissingParameter',
      'Either launchTemplateId or launchTemplateName must be specified, and not both.',
    );
  const found = all(caller).find((each) => (id === undefined ? each.name === name : each.id === id));
  if (found !== undefined) return found;
  if (id !== undefined)
    throw awsError(
      'InvalidLaunchTemplateId.NotFound',
      `The specified launch template, with template ID ${id}, does not exist.`,
    );
  throw awsError(
    'InvalidLaunchTemplateName.NotFoundException',
    `The specified launch template, with template name ${name}, does not exist.`,
  );
}

function versionOf(template: LaunchTemplate, wanted = '$Default') {
  const number =
    wanted === '$Default' ? template.defaultVersion : wanted === '$Latest' ? template.versions.length : Number(wanted);
  const found = template.versions.find(({ VersionNumber }) => VersionNumber === number);
  if (found === undefined)
    throw awsError(
      'InvalidLaunchTemplateId.VersionNotFound',
      `Could not find the specified version ${wanted} for the launch template with ID ${template.id}.`,
    );
  return found;
}

/** The template that a launch names, and its data. */
export function templateOf(
  caller: Caller,
  named: LaunchTemplateSpecification,
): { readonly template: LaunchTemplate; readonly data: RequestLaunchTemplateData } {
  const template = find(caller, named);
  return { template, data: versionOf(template, named.Version).data };
}

/** What a launch asks for where its template says the rest: the launch wins, member by member. */
export function withTemplate(request: RunInstancesRequest, data: RequestLaunchTemplateData): RunInstancesRequest {
  const { TagSpecifications: templateTags = [], BlockDeviceMappings: templateDisks = [], ...rest } = data;
  const own = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
  const merged = { ...rest, ...own } as RunInstancesRequest;
  const kinds = new Map(
    [...templateTags, ...(request.TagSpecifications ?? [])].map(({ ResourceType }) => [ResourceType, new Map()]),
  );
  for (const { ResourceType, Tags } of [...templateTags, ...(request.TagSpecifications ?? [])])
    for (const tag of Tags ?? []) kinds.get(ResourceType)!.set(tag.Key, tag);
  const disks = new Map(
    [...templateDisks, ...(request.BlockDeviceMappings ?? [])].map((disk) => [disk.DeviceName, disk]),
  );
  return {
    ...merged,
    ...(kinds.size > 0 && {
      TagSpecifications: [...kinds].map(([ResourceType, tags]) => ({ ResourceType, Tags: [...tags.values()] })),
    }),
    ...(disks.size > 0 && { BlockDeviceMappings: [...disks.values()] }),
  };
}

const writeTemplate = (template: LaunchTemplate) => ({
  LaunchTemplateId: template.id,
  LaunchTemplateName: template.name,
  CreateTime: new Date(template.createdAt),
  CreatedBy: `arn:aws:iam::${template.account}:root`,
  DefaultVersionNumber: template.defaultVersion,
  LatestVersionNumber: template.versions.length,
  Tags: writeTags(template.tags),
});

function addVersion(caller: Caller, template: LaunchTemplate, data: RequestLaunchTemplateData, words?: string) {
  const version = {
    LaunchTemplateId: template.id,
    LaunchTemplateName: template.name,
    VersionNumber: template.versions.length + 1,
    ...(words !== undefined && { VersionDescription: words }),
    CreateTime: new Date(),
    CreatedBy: caller.principal.arn,
    data,
  };
  template.versions.push(version);
  return writeVersion(template, version);
}

const writeVersion = (template: LaunchTemplate, { data, ...version }: LaunchTemplate['versions'][number]) => ({
  ...version,
  DefaultVersion: version.VersionNumber === template.defaultVersion,
  LaunchTemplateData: data as ResponseLaunchTemplateData,
});

export const templateHandlers: Ec2Handlers = {
  CreateLaunchTemplate(request, caller) {
    const { account, region, world } = caller;
    const tags = specifiedTags(request.TagSpecifications, ['launch-template']).get('launch-template') ?? {};
    const name = request.LaunchTemplateName ?? '';
    mayCreate(caller, 'launch-template', tags);
    if (all(caller).some((each) => each.name === name))
      throw awsError('InvalidLaunchTemplateName.AlreadyExistsException', 'Launch template name already in use.');
    caller.commit();
    const base = { account, region, createdAt: world.now(), tags, defaultVersion: 1, versions: [] };
    const template = world.templates.add({ ...base, id: world.newId('lt'), name });
    addVersion(caller, template, request.LaunchTemplateData ?? {}, request.VersionDescription);
    return { LaunchTemplate: writeTemplate(template) };
  },

  CreateLaunchTemplateVersion(request, caller) {
    const template = find(caller, request);
    mayTouch(caller, 'launch-template', template);
    const base = request.SourceVersion === undefined ? {} : versionOf(template, request.SourceVersion).data;
    caller.commit();
    const data = { ...base, ...request.LaunchTemplateData };
    return { LaunchTemplateVersion: addVersion(caller, template, data, request.VersionDescription) };
  },

  DescribeLaunchTemplates(request, caller) {
    caller.may();
    const named = request.LaunchTemplateNames?.map((name) => find(caller, { LaunchTemplateName: name }));
    const fits = filterBy<LaunchTemplate>(
      request.Filters,
      { 'launch-template-name': ({ name }) => [name] },
      ({ tags }) => tags,
    );
    const ids = request.LaunchTemplateIds;
    const found = byIds(named ?? all(caller), ids, 'InvalidLaunchTemplateId.NotFound', 'launch template').filter(fits);
    const { page, next } = pageOf(caller, found, request);
    return { LaunchTemplates: page.map(writeTemplate), NextToken: next };
  },

  DescribeLaunchTemplateVersions(request, caller) {
    caller.may();
    const template = find(caller, request);
    const wanted = request.Versions;
    const versions = wanted?.length ? wanted.map((each) => versionOf(template, each)) : template.versions;
    const { page, next } = pageOf(caller, versions, request);
    return { LaunchTemplateVersions: page.map((each) => writeVersion(template, each)), NextToken: next };
  },

  DeleteLaunchTemplate(request, caller) {
    const template = find(caller, request);
    mayTouch(caller, 'launch-template', template);
    caller.commit();
    caller.world.templates.delete(template.id);
    return { LaunchTemplate: writeTemplate(template) };
  },
};
