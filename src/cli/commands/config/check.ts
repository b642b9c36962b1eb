import type { Run } from '../../command.ts';
import { exitCodeOf, isError, type LoadedFile, loadFile } from '../../shared/load-file.ts';
import type { configCheckOptions } from './declaration.ts';
import { counted, problemsJson, problemText } from './problems.ts';

export const run: Run<typeof configCheckOptions> = async ({ args, options }, io) => {
  const verdicts: { opened: boolean; fine: boolean; errors: number; warnings: number }[] = [];
  for (const name of args) {
    io.signal.throwIfAborted();
    const file = await loadFile(name, io);
    const errors = file.problems.filter(isError).length;
    const warnings = file.problems.length - errors;
    verdicts.push({
      opened: file.failed === undefined,
      fine: errors === 0 && !(options.strict && warnings > 0),
      errors,
      warnings,
    });
    io.out(io.json ? problemsJson(name, file.problems) : textOf(file, errors, warnings));
  }
  if (!io.json && args.length > 1) io.out(summaryOf(verdicts));
  return exitCodeOf(verdicts);

  function textOf(file: LoadedFile, errors: number, warnings: number): string {
    const name = file.file === '-' ? '<stdin>' : file.file;
    const verdict =
      errors === 0 && warnings === 0
        ? `fine${whatIs(file)}`
        : `${verdictOf(errors, warnings)}${errors === 0 ? whatIs(file) : ''}`;
    return `${problemText(file.file, file.bytes, file.problems, io)}${name}: ${verdict}\n`;
  }
};

const verdictOf = (errors: number, warnings: number): string =>
  [errors > 0 ? counted(errors, 'error') : '', warnings > 0 ? counted(warnings, 'warning') : '']
    .filter((part) => part !== '')
    .join(', ');

function whatIs(file: LoadedFile): string {
  const { spec } = file;
  if (!spec) return '';
  return ` (cluster '${spec.name}' on ${spec.provider.type}, ${counted(spec.nodeTypes.length, 'node type')}, up to ${counted(spec.maxWorkers ?? 0, 'worker')})`;
}

function summaryOf(verdicts: readonly { fine: boolean; errors: number; warnings: number }[]): string {
  const bad = verdicts.filter((verdict) => !verdict.fine).length;
  const errors = verdicts.reduce((sum, verdict) => sum + verdict.errors, 0);
  const warnings = verdicts.reduce((sum, verdict) => sum + verdict.warnings, 0);
  return `${counted(verdicts.length, 'file')}: ${verdicts.length - bad} usable, ${bad} not (${counted(errors, 'error')}, ${counted(warnings, 'warning')})\n`;
}
