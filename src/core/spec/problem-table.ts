import { meaningProblems } from './check/meaning-problems.ts';
import { structureProblems } from './check/structure-problems.ts';
import { templateProblems } from './check/template-problems.ts';
import { trapProblems } from './check/trap-problems.ts';
import { fileProblems } from './file-problems.ts';
import { legacyProblems } from './legacy-problems.ts';
import { rayProblems } from './ray/problems.ts';
import { yamlProblems } from './yaml/problems.ts';

export interface DocumentedProblem {
  readonly code: string;
  readonly severity: 'error' | 'warning';
  readonly title: string;
  readonly meaning: string;
  readonly hint: string;
}

const rayHint = '`manta config show --ray` says what Ray does with a file; `manta config check` says what Manta does';

/** Every code that a cluster file can be given, for the page that lists them. */
export const specProblems: readonly DocumentedProblem[] = [
  ...Object.values(fileProblems),
  ...Object.values(yamlProblems).map((problem) => ({ ...problem, severity: 'error' as const })),
  ...Object.values(structureProblems),
  ...Object.values(templateProblems),
  ...Object.values(meaningProblems),
  ...Object.values(legacyProblems),
  ...Object.values(trapProblems),
  ...Object.values(rayProblems).map((problem) => ({ ...problem, severity: 'error' as const, hint: rayHint })),
].map(({ code, severity, title, meaning, hint }) => ({ code, severity, title, meaning, hint }));
