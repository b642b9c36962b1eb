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

describe('pages are written in plain English', () => {
  for (const page of pages.filter((path) => !path.startsWith('docs/decisions/')))
    test(page, () => {
      for (const [index, line] of prose(readPage(page)).split('\n').entries())
        for (const { phrase, write } of bannedPhrases)
          assert.doesNotMatch(line, phrase, `${page}, line ${index + 1} of its prose: write '${write}'`);
    });
});

test('every phrase on the list is found', () => {
  const bad = "Begin anew. Whoever is here, taken for ray's sake, behind --: the nodes of now. It was lost for ever.";
  assert.equal(bannedPhrases.filter(({ phrase }) => phrase.test(bad)).length, 7);
});
