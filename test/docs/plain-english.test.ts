import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bannedPhrases } from './banned-phrases.ts';
import { pages, readPage } from './pages.ts';

/** The prose of a page: code is not English, and titles of tests and scenarios are told where they stand. */
const prose = (page: string): string =>
  page
    .replace(/^```[^]*?^```/gm, '')
    .split('\n')
    .filter((line) => !/^\|.*\| (?:test|soak)? \|/.test(line) && !line.includes('.ts`:'))
    .join('\n')
    .replace(/`[^`]*`/g, '``');

/** Quotes messages as they once were. */
const quotes = 'docs/decisions/0006-layout.md';

describe('pages are written in plain English', () => {
  for (const page of pages.filter((path) => path !== quotes))
    test(page, () => {
      for (const [index, line] of prose(readPage(page)).split('\n').entries())
        for (const { phrase, write } of bannedPhrases)
          assert.doesNotMatch(line, phrase, `${page}, line ${index + 1} of its prose: write '${write}'`);
    });
});

describe('a page opens with who needs it, and ends with where to go next', () => {
  for (const page of pages.filter((path) => path !== 'README.md' && !path.startsWith('docs/decisions/')))
    test(page, () => {
      assert.match(readPage(page), /^# .+\n\nRead this page (?:if|before) /);
      assert.match(readPage(page).split(/^## /m).at(-1) ?? '', /^Next\n\n- \[/);
    });
});

test('every phrase on the list is found', () => {
  const bad = "Begin anew. Whoever is here, taken for ray's sake, behind --: the nodes of now. It was lost for ever.";
  assert.equal(bannedPhrases.filter(({ phrase }) => phrase.test(bad)).length, 7);
});
