// needs: google-discovery

/**
 * The discovery documents of Google's APIs, as `google-api-python-client` ships them: every method with its path, its
 * parameters and the schemas of its requests and answers. The wheel is fetched once into the user's cache folder and
 * read here; no Python of it runs.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureWheelFiles, wheelFolder } from './wheel.ts';

const version = '2.202.0';
export const discoveryVersion: string = version;
const hash = 'sha256:aaa90064c9bb642ff1d065b22ca8958a2cb6e345909cefe70d0e5452fc50e08b';

/** API and version, as the files of the package are named. */
export const googleApis = [
  'compute.v1',
  'tpu.v2',
  'tpu.v2alpha1',
  'iam.v1',
  'cloudresourcemanager.v1',
  'oslogin.v1',
] as const;
export type GoogleApi = (typeof googleApis)[number];

const folder = `google-discovery-${version}`;

/** The text of an API's document. Throws where it was not fetched. */
export function readDiscovery(api: GoogleApi): string {
  const file = join(wheelFolder(folder), `${api}.json`);
  if (!existsSync(file))
    throw new Error(`the discovery documents of Google are not here: 'node scripts/google-discovery.ts' fetches them`);
  return readFileSync(file, 'utf8');
}

/** Fetches the documents where they are not there yet. */
export const ensureDiscovery = (say: (line: string) => void): Promise<void> =>
  ensureWheelFiles(
    {
      requirement: `google-api-python-client==${version}`,
      hash,
      folder,
      files: Object.fromEntries(
        googleApis.map((api) => [`${api}.json`, `googleapiclient/discovery_cache/documents/${api}.json`]),
      ),
    },
    say,
  );

if (import.meta.main) await ensureDiscovery((line) => void process.stderr.write(`${line}\n`));
