/**
 * Expressions that recheck objects to and that are safe nevertheless, each with the reason. An expression belongs here only
 * when its text, or what it looks at behind each start, has a length limit; otherwise it is written in another way.
 */
export const exempt: Readonly<Record<string, string>> = {
  '/\\$\\{env:([^}\\n]{0,200})\\}/g': 'looks at no more than 200 characters behind each start',
  '/\\{%-?[^\\n]{0,200}?%\\}/g': 'looks at no more than 200 characters behind each start',
  '/\\$\\{[^}\\n]{1,80}\\}/g': 'looks at no more than 80 characters behind each start',
};

/** Files that make expressions from text, and why that text cannot make a slow one. */
export const madeAtRunTime: Readonly<Record<string, string>> = {
  'src/api/jobs.ts': 'from the names of states, between commas',
  'src/base/one-session.ts': 'from a mark that Manta makes up, between newlines',
  'src/base/redact.ts':
    'from fixed alternatives, each of which begins in its own way and repeats one kind of character',
  'src/bringup/container/container-text.ts': 'from the names of options of the container engine',
  'src/bringup/container/container.ts': 'from words of a script of ours, one at the beginning of a line',
  'src/core/spec/check/structure.ts': 'from the pattern of a duration, whose parts cannot be read in two ways',
  'src/core/spec/keys/explain.ts': "from paths of the key table; it reads a word of one's own command line",
  'src/jobs/packages/ignore-rules.ts':
    "from patterns of one's own ignore files, on one's own machine, for one's own paths",
  'src/web/state/log-search.ts': 'from the words that were typed, with every special character taken as itself',
};
