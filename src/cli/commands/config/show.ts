import type { Problem } from '../../../core/spec/problem.ts';
import { pythonJson } from '../../../core/spec/ray/json.ts';
import { prepareAsRay } from '../../../core/spec/ray/prepare.ts';
import { providers } from '../../../providers/table.ts';
import type { Run } from '../../command.ts';
import { exitCodeOf, isError, type LoadedFile, loadFile } from '../../shared/load-file.ts';
import type { configShowOptions } from './declaration.ts';
import { counted, problemsJson, problemText } from './problems.ts';
import { shownSpec, specText } from './spec-text.ts';

export const run: Run<typeof configShowOptions> = async ({ args, options }, io) => {
  const results: { opened: boolean; fine: boolean }[] = [];
  const asLines = io.json || (options.ray && args.length > 1);
  for (const name of args) {
    io.signal.throwIfAborted();
    const file = await loadFile(name, io);
    const shown = options.ray ? asRay(file) : asManta(file);
    results.push({ opened: file.failed === undefined, fine: 'config' in shown });
    if ('problems' in shown) {
      io.out(asLines ? problemsJson(name, shown.problems) : problemText(name, file.bytes, shown.problems, io));
      continue;
    }
    io.out(asLines ? `{"file":${JSON.stringify(name)},"config":${shown.config}}\n` : shown.text());
  }
  return exitCodeOf(results);
};

/** `config` is JSON text. */
type Shown = { readonly config: string; readonly text: () => string } | { readonly problems: readonly Problem[] };

function asManta(file: LoadedFile): Shown {
  const { spec } = file;
  if (spec === undefined) return { problems: file.problems.filter(isError) };
  return { config: JSON.stringify(shownSpec(spec)), text: () => doubtsOf(file) + specText(spec) };
}

function asRay(file: LoadedFile): Shown {
  if (file.source === undefined) return { problems: file.problems.filter(isError) };
  const prepared = prepareAsRay(file.source, providers);
  if ('problems' in prepared) return prepared;
  const config = pythonJson(prepared.config);
  return { config, text: () => `${JSON.stringify(JSON.parse(config), undefined, 2)}\n` };
}

/** A comment on top of what is shown of a file that cannot be used as it is. */
function doubtsOf(file: LoadedFile): string {
  const errors = file.problems.filter(isError).length;
  return errors === 0 ? '' : `# not usable yet, ${counted(errors, 'error')}: manta config check ${file.file}\n`;
}
