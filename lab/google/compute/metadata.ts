import { googleError } from '../errors.ts';
import { fingerprintOf } from '../names.ts';
import type { MetadataBody } from '../shapes.ts';

const longestValue = 262_144;
const longest = 524_288;

/** Metadata of an instance or a project; what is too long is refused. */
export function checkMetadata(body: MetadataBody | undefined, field: string): ReadonlyMap<string, string> {
  const items = new Map<string, string>();
  for (const [index, { key, value = '' }] of (body?.items ?? []).entries()) {
    if (items.has(key))
      throw googleError('invalid', `Invalid value for field '${field}': ''. Duplicate metadata key '${key}'.`);
    if (value.length > longestValue) throw tooLarge(`${field}.items[${index}].value`, longestValue, value.length);
    items.set(key, value);
  }
  const size = [...items].reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  if (size > longest) throw tooLarge(`${field}.items`, longest, size);
  return items;
}

const tooLarge = (field: string, most: number, actual: number) =>
  googleError(
    'uploadTooLarge',
    `Value for field '${field}' is too large: maximum size ${most} character(s); actual size ${actual}.`,
  );

export const writeMetadata = (items: ReadonlyMap<string, string>, changes: number): object => ({
  kind: 'compute#metadata',
  fingerprint: fingerprintOf([[...items], changes]),
  ...(items.size > 0 && { items: [...items].map(([key, value]) => ({ key, value })) }),
});

/** A change names what it is a change of; where that has changed in the meantime it is refused. */
export function checkFingerprint(given: string | undefined, current: string, words: string): void {
  if (given !== current) throw googleError('conditionNotMet', words);
}

export const labelsChanged = 'Labels fingerprint either invalid or resource labels have changed';
export const metadataChanged = 'Supplied fingerprint does not match current metadata fingerprint.';
