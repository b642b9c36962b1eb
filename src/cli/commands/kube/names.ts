import { manifestErrors } from '../../../core/kube/errors.ts';
import { rayKinds } from '../../../core/kube/rules/rules.ts';
import type { Io } from '../../command.ts';
import { openManifests } from './manifests.ts';

/** An object of KubeRay that a command line means. */
export interface NamedObject {
  readonly kind: string;
  readonly plural: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Objects that are named as `KIND/NAME`, and those of KubeRay in files. */
export async function openNames(words: readonly string[], io: Io): Promise<readonly NamedObject[]> {
  const found: NamedObject[] = [];
  for (const word of words) {
    const [, typed = '', name] = /^([a-z]+)\/([a-z0-9-]+)$/i.exec(word) ?? [];
    const kind = rayKinds.find((each) => [each.toLowerCase(), `${each.toLowerCase()}s`].includes(typed.toLowerCase()));
    if (kind !== undefined && name !== undefined)
      found.push({ kind, plural: pluralOf(kind), namespace: undefined, name });
    else if (!/\.(?:ya?ml|json)$|^-$|^https?:/i.test(word) && !word.includes('.'))
      throw manifestErrors.BadName({ word });
    else
      for (const manifest of await openManifests([word], io, () => []))
        if (rayKinds.includes(manifest.kind)) found.push({ ...manifest, plural: pluralOf(manifest.kind) });
  }
  return found;
}

const pluralOf = (kind: string): string => `${kind.toLowerCase()}s`;
