// needs: schemathesis

import { dirname, join } from 'node:path';
import { capture, ensureVenv } from './python-venv.ts';

const version = '4.32.5';

/** Path of the program that holds an HTTP API to its own description. Installing takes half a minute. */
export async function ensureSchemathesis(say: (line: string) => void): Promise<string> {
  const python = await ensureVenv(
    {
      name: `schemathesis-${version}`,
      requirements: [`schemathesis==${version}`],
      works: async (each) => {
        const proof = "import schemathesis, importlib.metadata as m; print(m.version('schemathesis'))";
        return (await capture(each, ['-c', proof]))?.trim() === version;
      },
    },
    say,
  );
  return join(dirname(python), 'schemathesis');
}
