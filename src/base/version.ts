import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** The version of the Manta that stands at this place or above it, in the sources or in a bundle. */
function versionFrom(start: URL): string | undefined {
  let folder = start;
  for (let last = ''; folder.href !== last; folder = new URL('..', folder)) {
    last = folder.href;
    try {
      const found = JSON.parse(readFileSync(new URL('package.json', folder), 'utf8')) as {
        name?: string;
        version?: string;
      };
      if (found.name === 'mantaray' && found.version !== undefined) return found.version;
    } catch {
      // Not this folder.
    }
  }
  return undefined;
}

/** Manta's own version. */
export const version: string = versionFrom(new URL('.', import.meta.url)) ?? 'unknown';

/** That of the Manta in a folder; undefined where there is none. */
export const versionAt = (folder: string): string | undefined => versionFrom(pathToFileURL(`${folder}/`));
