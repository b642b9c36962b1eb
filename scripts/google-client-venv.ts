// needs: google-client

import { discoveryVersion } from './google-discovery.ts';
import { capture, ensureVenv, packagesOf } from './python-venv.ts';

/** Without PySocks the client ignores a proxy of its environment. */
const requirements = [`google-api-python-client==${discoveryVersion}`, 'PySocks', 'cryptography'] as const;

/** Folder of the packages that Ray's own launcher needs for Google Cloud. Installing takes twenty seconds. */
export async function ensureGoogleClient(say: (line: string) => void): Promise<string> {
  const program = 'import googleapiclient.version as v, socks, cryptography; print(v.__version__)';
  const python = await ensureVenv(
    {
      name: `google-client-${discoveryVersion}`,
      requirements,
      works: async (each) => (await capture(each, ['-c', program]))?.trim() === discoveryVersion,
    },
    say,
  );
  return packagesOf(python);
}
