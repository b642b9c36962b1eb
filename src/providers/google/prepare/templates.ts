import type { PlainMap } from '../../../core/spec/cluster.ts';
import { isText, mapOf } from '../../../core/spec/plain.ts';
import { allOf } from '../../all-of.ts';
import { preparationErrors } from '../errors.ts';
import { type LaunchedType, partialUrl, projectOf } from './file-types.ts';
import { isAbsent } from './refused.ts';
import type { GoogleScene } from './scene.ts';

/** The types with what their instance templates add; what the file says counts more. */
export async function withTemplates(
  scene: GoogleScene,
  types: readonly LaunchedType[],
): Promise<readonly LaunchedType[]> {
  return await allOf(
    types.map(async (type) => {
      const { sourceInstanceTemplate: template } = type.config;
      if (!isText(template)) return type;
      return { ...type, config: { ...(await propertiesOf(scene, type, template)), ...type.config } };
    }),
  );
}

async function propertiesOf(scene: GoogleScene, { at }: LaunchedType, template: string): Promise<PlainMap> {
  const named = template.includes('/') ? template : `global/instanceTemplates/${template}`;
  const path = partialUrl(named, scene.project);
  const rest = path.split('/').slice(2).join('/');
  try {
    const answer = await scene.ask<PlainMap>({
      call: 'compute.instanceTemplates.get',
      url: scene.compute(rest, projectOf(path)),
    });
    return mapOf(answer.properties);
  } catch (error) {
    if (!isAbsent(error)) throw error;
    throw preparationErrors.NoTemplate({ at: [...at, 'sourceInstanceTemplate'], template }, error);
  }
}
