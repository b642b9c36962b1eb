// needs: botocore

/**
 * The models of AWS's APIs, as `botocore` ships them: every operation with the members, types and errors of its requests
 * and answers. The wheel is fetched once into the user's cache folder and read here; no Python of it runs.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ensureWheelFiles, wheelFolder } from './wheel.ts';

export const botocoreVersion = '1.44.0';
const hash = 'sha256:9055745fc16400377ac7e825ac63b8f77af17305e1c77c9a5519a648d7b2e87c';

/** Files of the wheel, by service. */
const models = {
  ec2: 'botocore/data/ec2/2016-11-15/service-2.json.gz',
  iam: 'botocore/data/iam/2010-05-08/service-2.json.gz',
  sts: 'botocore/data/sts/2011-06-15/service-2.json.gz',
  ssm: 'botocore/data/ssm/2014-11-06/service-2.json.gz',
  pricing: 'botocore/data/pricing/2017-10-15/service-2.json.gz',
} as const;
export type AwsService = keyof typeof models;
export const awsServices = Object.keys(models) as readonly AwsService[];

const folder = `botocore-models-${botocoreVersion}`;

/** The text of a service's model. Throws where it was not fetched. */
export function readModel(service: AwsService): string {
  const file = join(wheelFolder(folder), `${service}.json`);
  if (!existsSync(file))
    throw new Error(`the API models of AWS are not here: 'node scripts/botocore-models.ts' fetches them`);
  return readFileSync(file, 'utf8');
}

/** Fetches the models where they are not there yet. */
export const ensureModels = (say: (line: string) => void): Promise<void> =>
  ensureWheelFiles(
    {
      requirement: `botocore==${botocoreVersion}`,
      hash,
      folder,
      files: Object.fromEntries(Object.entries(models).map(([service, path]) => [`${service}.json`, path])),
      unpack: gunzipSync,
    },
    say,
  );

if (import.meta.main) await ensureModels((line) => void process.stderr.write(`${line}\n`));
