// needs: moto

import { dirname, join } from 'node:path';
import { capture, ensureVenv } from './python-venv.ts';

const version = '5.2.5';

/** Path of `moto_server`, another fake of AWS, which ours is compared with. Installing takes a minute and 316 MB. */
export async function ensureMoto(say: (line: string) => void): Promise<string> {
  const python = await ensureVenv(
    {
      name: `moto-${version}`,
      requirements: [`moto[server,ec2,iam,ssm]==${version}`],
      works: async (each) =>
        (await capture(each, ['-c', 'import moto.server, moto; print(moto.__version__)']))?.trim() === version,
    },
    say,
  );
  return join(dirname(python), 'moto_server');
}
