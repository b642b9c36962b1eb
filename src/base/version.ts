import { readFileSync } from 'node:fs';

/** Manta's own version, from the package.json above this file, wherever the bundle or the sources stand below it. */
export const version: string = (() => {
  let folder = new URL('.', import.meta.url);
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
  return 'unknown';
})();
