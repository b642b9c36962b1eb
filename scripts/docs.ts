/** Rewrites the parts of the reference pages that are made from the code: `npm run docs`. A test finds them out of date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './docs/declared.ts';
import { generatedParts, withPart } from './docs/pages.ts';

for (const [path, part] of await generatedParts()) {
  const file = join(root, path);
  const page = readFileSync(file, 'utf8');
  const fresh = withPart(page, part);
  process.stdout.write(`${fresh === page ? 'same     ' : 'rewritten'} ${path}\n`);
  if (fresh !== page) writeFileSync(file, fresh);
}
