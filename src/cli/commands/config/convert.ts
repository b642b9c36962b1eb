import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../../../base/errors.ts';
import { writeDurably } from '../../../base/files/durable.ts';
import { specErrors } from '../../../core/spec/errors.ts';
import { convertCluster } from '../../../core/spec/legacy/convert.ts';
import { providers } from '../../../providers/table.ts';
import type { Run } from '../../command.ts';
import { loadFile } from '../../shared/load-file.ts';
import type { configConvertOptions } from './declaration.ts';
import { problemsJson, problemText } from './problems.ts';

export const run: Run<typeof configConvertOptions> = async ({ args, options }, io) => {
  const [name] = args as [string];
  const file = await loadFile(name, io);
  if (options.to !== undefined) return (await import('./convert-kuberay.ts')).toKuberay(file, name, io);
  const result = file.source ? convertCluster(file.source, file.env, providers) : { problems: file.problems };
  if ('problems' in result) {
    io.out(io.json ? problemsJson(name, result.problems) : problemText(name, file.bytes, result.problems, io));
    return file.failed === undefined ? 1 : 2;
  }
  if (options.write && name !== '-') {
    if (result.changed) await replaceFile(resolve(io.cwd, name), result.text);
    io.out(
      io.json
        ? `${JSON.stringify({ file: name, changed: result.changed })}\n`
        : `${name}: ${result.changed ? 'converted' : 'nothing to convert'}\n`,
    );
    return 0;
  }
  io.out(io.json ? `${JSON.stringify({ file: name, text: result.text, changed: result.changed })}\n` : result.text);
  return 0;
};

/** The old text or the new one, never half of it; links and permissions stay. */
async function replaceFile(named: string, text: string): Promise<void> {
  try {
    const path = await realpath(named);
    const { mode } = await stat(path);
    writeDurably(path, text, { mode: mode & 0o7777 });
  } catch (error) {
    throw specErrors.NotWritten({ file: named, why: messageOf(error) }, error);
  }
}
