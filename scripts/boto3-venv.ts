// needs: boto3

import { botocoreVersion } from './botocore-models.ts';
import { capture, ensureVenv, packagesOf } from './python-venv.ts';

/** Folder of the packages that Ray's own launcher needs for AWS. Installing takes ten seconds. */
export async function ensureBoto3(say: (line: string) => void): Promise<string> {
  const python = await ensureVenv(
    {
      name: `boto3-${botocoreVersion}`,
      requirements: [`boto3==${botocoreVersion}`],
      works: async (each) =>
        (await capture(each, ['-c', 'import boto3; print(boto3.__version__)']))?.trim() === botocoreVersion,
    },
    say,
  );
  return packagesOf(python);
}
