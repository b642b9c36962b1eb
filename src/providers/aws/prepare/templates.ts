import { gunzipSync } from 'node:zlib';
import { DescribeLaunchTemplateVersionsCommand, type ResponseLaunchTemplateData } from '@aws-sdk/client-ec2';
import type { PlainMap } from '../../../core/spec/cluster.ts';
import { fingerprint } from '../../../core/spec/fingerprint.ts';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import { awsErrors } from '../errors.ts';
import { type FileType, isSpot } from './file-types.ts';
import { isCode } from './refused.ts';
import type { Scene } from './scene.ts';

const isUnknown = isCode(
  'InvalidLaunchTemplateId.NotFound',
  'InvalidLaunchTemplateId.Malformed',
  'InvalidLaunchTemplateId.VersionNotFound',
  'InvalidLaunchTemplateName.NotFound',
  'InvalidLaunchTemplateName.Malformed',
  // What cannot be a name at all.
  'InvalidParameterValue',
);

/** The types with what their launch templates add: the file wins member by member. Each template is asked for once. */
export async function withTemplates(scene: Scene, types: readonly FileType[]): Promise<readonly FileType[]> {
  const asked = new Map<string, Promise<ResponseLaunchTemplateData>>();
  return await Promise.all(
    types.map(async (type) => {
      if (!('LaunchTemplate' in type.config)) return type;
      const key = fingerprint(mapOf(type.config.LaunchTemplate));
      const asking = asked.get(key) ?? askTemplate(scene, type);
      asked.set(key, asking);
      return merge(type, await asking);
    }),
  );
}

async function askTemplate(scene: Scene, { at, config }: FileType): Promise<ResponseLaunchTemplateData> {
  const { LaunchTemplateId: id, LaunchTemplateName: name, Version: given } = mapOf(config.LaunchTemplate);
  const version = isText(given) || typeof given === 'number' ? String(given) : '$Default';
  const template = isText(id) ? id : isText(name) ? name : '';
  const missing = awsErrors.NoTemplate({ at: [...at, 'LaunchTemplate'], template, version, region: scene.region });
  if (template === '') throw missing;
  const named = isText(id) ? { LaunchTemplateId: id } : { LaunchTemplateName: template };
  try {
    const { LaunchTemplateVersions: found = [] } = await scene.ask('ec2:DescribeLaunchTemplateVersions', (options) =>
      scene.aws.ec2.send(new DescribeLaunchTemplateVersionsCommand({ ...named, Versions: [version] }), options),
    );
    const [one] = found;
    if (one !== undefined) return one.LaunchTemplateData ?? {};
  } catch (error) {
    if (!isUnknown(error)) throw error;
  }
  throw missing;
}

/** Answers are as plain as a file. */
const plainMembers = (data: ResponseLaunchTemplateData): PlainMap => JSON.parse(JSON.stringify(data)) as PlainMap;

/** More than any user data of 16 KiB that is meant to be read. */
const mostBytes = 4 * 2 ** 20;

/** cloud-init takes compressed text too. */
function textOf(bytes: Buffer): string {
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (isPacked ? gunzipSync(bytes, { maxOutputLength: mostBytes }) : bytes).toString();
}

function merge(type: FileType, data: ResponseLaunchTemplateData): FileType {
  const own = plainMembers(data);
  const config = { ...own, ...type.config };
  const userData = 'UserData' in type.config ? undefined : data.UserData;
  const templateSpot = isSpot(config) && !isSpot(type.config);
  return {
    ...type,
    config,
    usesSpot: type.usesSpot || templateSpot,
    ...(templateSpot && { templateSpot }),
    ...(userData && { templateUserData: textOf(Buffer.from(userData, 'base64')) }),
  };
}
