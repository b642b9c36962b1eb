import { readFileSync } from 'node:fs';
import type { PlainMap } from '../../../core/spec/cluster.ts';
import { isText } from '../../../core/spec/plain.ts';
import type { CloudIdentity } from '../../clouds.ts';
import type { CommandEnvironment } from '../../descriptor.ts';
import { environmentOf } from './credentials.ts';

/** The project that credentials or variables name; undefined where only `gcloud` or the machine may know it. */
export function projectInEnvironment(identity: CloudIdentity, given: PlainMap): string | undefined {
  const { type, credentials } = given;
  const env = environmentOf(identity);
  const key = type === 'service_account' && isText(credentials) ? projectIn(credentials) : undefined;
  return key ?? (env['GOOGLE_CLOUD_PROJECT'] || env['GCLOUD_PROJECT'] || projectOfFile(env));
}

function projectIn(text: string): string | undefined {
  try {
    const { project_id: project } = JSON.parse(text) as { readonly project_id?: unknown };
    return typeof project === 'string' && project !== '' ? project : undefined;
  } catch {
    // What is wrong with a key is said when it is used.
    return undefined;
  }
}

function projectOfFile({ GOOGLE_APPLICATION_CREDENTIALS: file }: CommandEnvironment): string | undefined {
  if (!file) return undefined;
  try {
    return projectIn(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
