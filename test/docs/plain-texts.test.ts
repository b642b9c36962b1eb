import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { declaredErrors, declaredEvents, declaredProblems, root } from '../../scripts/docs/declared.ts';
import { exitCodes } from '../../scripts/docs/exit-codes.ts';
import { declaredMetrics } from '../../scripts/docs/metrics.ts';
import { openapiDocument } from '../../src/api/openapi.ts';
import { commands, groups } from '../../src/cli/commands.ts';
import { globalOptions } from '../../src/cli/global-options.ts';
import { typed } from '../../src/cli/tree.ts';
import { providers } from '../../src/providers/table.ts';
import { bannedPhrases, everywhere } from './banned-phrases.ts';

type Phrase = (typeof bannedPhrases)[number];

/** `there is no` is English, `this is no` is not. */
const isNo: Phrase = {
  phrase: /(?<!\bthere )\bis no (?!longer\b|more\b|less\b|better\b|different\b)[a-z]/i,
  write: 'is not a …',
};

/** Banned in texts for users only: comments may use them. */
const inTexts: readonly Phrase[] = [
  { phrase: /\bof now\b/i, write: 'the current …' },
  { phrase: /\bset right\b/i, write: 'fix' },
  { phrase: /\bone \w+ a line\b|\bone (?:line|output) a (?:file|job)\b/i, write: '… per …' },
  { phrase: /\bturn(?:s|ed|ing)? (?:it|itself) off\b/i, write: 'shut down' },
  { phrase: /\b(?:a|of) texts?\b/i, write: 'string' },
  { phrase: /\blength of time\b/i, write: 'duration' },
  { phrase: /\bas with ray\b/i, write: 'as in ray' },
  { phrase: /\bso that (?:it|nothing|no)\b/i, write: 'so …' },
  { phrase: /\bputs? it off\b/i, write: 'keep it longer, postpone' },
  { phrase: /\bwins? over\b/i, write: 'override' },
  { phrase: /\b(?:is|are|was|were|be|being) ended\b/i, write: 'stopped, terminated, shut down or killed' },
  { phrase: /\bnobody is\b/i, write: 'no one is, or say what is missing' },
  { phrase: /\b(?:is|was) tried again\b/i, write: 'retrying' },
];

interface Text {
  readonly where: string;
  readonly text: string;
}

const ofErrors = (await declaredErrors()).flatMap(({ code, message, hint }) => [
  { where: code, text: message },
  { where: `${code}, hint`, text: hint ?? '' },
]);
const ofEvents = (await declaredEvents()).map(({ code, text }) => ({ where: code, text }));
const ofProblems = (await declaredProblems()).flatMap(({ code, title, meaning, hint }) =>
  [title, meaning, hint].map((text) => ({ where: code, text })),
);
const options = [
  ...globalOptions.map((option) => ({ where: `--${option.name}`, option })),
  ...commands.flatMap((command) =>
    command.options.map((option) => ({ where: `${typed(command.path)} --${option.name}`, option })),
  ),
];
const ofHelp: readonly Text[] = [
  ...Object.entries(groups).map(([where, text]) => ({ where, text })),
  ...options.flatMap(({ where, option }) => [option.summary, option.ignored ?? ''].map((text) => ({ where, text }))),
  ...commands.flatMap(({ path, summary, description, args }) =>
    [summary, description ?? '', ...args.map((each) => each.summary)].map((text) => ({ where: typed(path), text })),
  ),
];
const ofKeys = providers.keys.flatMap(({ path, doc, default: usual }) =>
  [doc, usual ?? ''].map((text) => ({ where: path, text })),
);
const ofTables: readonly Text[] = [
  ...Object.entries(exitCodes).map(([code, text]) => ({ where: `exit code ${code}`, text })),
  ...declaredMetrics().map(({ name, help }) => ({ where: name, text: help })),
];

/** Every `summary` and `description` of a document. */
function describedIn(value: unknown, where: string): Text[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, each]: [string, unknown]) =>
    (key === 'summary' || key === 'description') && typeof each === 'string'
      ? [{ where, text: each }]
      : describedIn(each, `${where}/${key}`),
  );
}

/** What is wrong with a text, for a failure that says all of it at once. */
const found = (texts: readonly Text[], phrases: readonly Phrase[]): string[] =>
  texts.flatMap(({ where, text }) =>
    phrases
      .filter(({ phrase }) => phrase.test(text))
      .map(({ phrase, write }) => `${where}: '${phrase.exec(text)?.[0]}' in '${text}': write '${write}'`),
  );

describe('what users read is plain English', () => {
  const all: readonly (readonly [string, readonly Text[]])[] = [
    ['errors', ofErrors],
    ['events', ofEvents],
    ['problems of cluster files', ofProblems],
    ['help', ofHelp],
    ['keys', ofKeys],
    ['exit codes and metrics', ofTables],
    ['the API', describedIn(openapiDocument(''), '')],
  ];
  for (const [what, texts] of all)
    test(what, () => {
      assert.ok(texts.length > 10);
      assert.deepEqual(found(texts, [...bannedPhrases, isNo, ...inTexts]), []);
    });
});

test('the help of an option is a phrase of less than 70 characters', () => {
  for (const { where, option } of options) {
    assert.ok(option.summary.length < 70, `${where}: ${option.summary}`);
    assert.doesNotMatch(option.summary, /\.$|^[A-Z](?![A-Z])/, where);
  }
});

describe('sources are plain English', () => {
  const lines = globSync('src/**/*.{ts,tsx,sh,bash}', { cwd: root }).flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .map((text, at) => ({ where: `${file}:${at + 1}`, text: text.trim() })),
  );
  test('in every line', () => assert.deepEqual(found(lines, everywhere), []));
  test('in comments', () =>
    assert.deepEqual(
      found(
        lines.filter(({ text }) => /^(?:\/\/|\/\*|\*|#)/.test(text)),
        [isNo],
      ),
      [],
    ));
});

test('every phrase on the list is found', () => {
  const bad = [
    'it is started anew',
    'whoever reaches it',
    "taken for ray's sake",
    'write it behind --',
    'ids, parted by commas',
    'a date, which is no time',
    'the keys of today',
    'a time to come',
    'its disk goes on costing',
    "'x' is no node",
    'the nodes of now',
    'set right what it says',
    'one job a line',
    'the cluster turns itself off',
    'must be a text',
    'a length of time',
    'as with ray',
    'so that it may have been taken',
    "'manta extend' puts it off",
    'it wins over the file',
    'its machine is ended',
    'nobody is at the terminal',
    'it is tried again',
    'a rule that lets in SSH',
    'asked in vain',
    'lost for ever',
    'it speaks to Ray',
  ];
  for (const { phrase } of [...everywhere, isNo, ...inTexts])
    assert.ok(
      bad.some((text) => phrase.test(text)),
      `${phrase}`,
    );
  assert.doesNotMatch('there is no node, and it is no longer there', isNo.phrase);
});
