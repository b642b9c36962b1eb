import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/docs/declared.ts';

export const pages = globSync(['*.md', 'docs/**/*.md', 'lab/**/*.md'], { cwd: root, exclude: ['CHANGELOG.md'] }).sort();

export const readFile = (path: string): string => readFileSync(join(root, path), 'utf8');

/** What is written by hand on a page. */
export const readPage = (path: string): string =>
  readFile(path).replace(/^<!-- made from the code [^]*?^<!-- end of what is made from the code -->$/m, '');

/** What a block may need beyond this machine, as `<!-- needs: WORD -->` before it. Such a block is parsed, and not run. */
export const blockNeeds = ['hosts', 'cloud', 'ray', 'browser', 'installation'] as const;

export interface Block {
  /** As the fence names it; empty for a fence without a name. */
  readonly language: string;
  readonly text: string;
  /** The words of the comment before it. */
  readonly needs: readonly string[];
}

/** The fenced blocks of a page, in order. */
export function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(/(?:^<!-- needs: ([^>]*?) -->\n+)?^```(\S*)\n([^]*?)^```/gm)].map(
    ([, needs = '', language, text]) => ({
      language: language!,
      text: text!,
      needs: needs.split(',').flatMap((word) => word.trim() || []),
    }),
  );
}

export const isShell = ({ language }: Block): boolean => ['sh', 'bash', 'console'].includes(language);

/** Lines of shell as commands, without prompts, comments and what is piped around them. */
export function commandLines(shell: string): readonly string[] {
  return shell
    .replaceAll('\\\n', ' ')
    .split('\n')
    .flatMap((line) => line.replace(/(^|\s)#.*$/, '').split(/\s(?:\||&&|;)\s|\$\(|\)"/))
    .map((part) =>
      part
        .replace(/^\$ /, '')
        .replace(/[<>]\s*\S+/g, '')
        .trim(),
    )
    .filter((part) => part !== '');
}

/** Lines that show a command outside shell blocks: after a prompt, or in an indented block. */
export function shownLines(page: string): readonly string[] {
  const others = blocksOf(page).filter((block) => !isShell(block));
  const prompts = others.flatMap(({ text }) => text.split('\n').filter((line) => line.startsWith('$ ')));
  const plain = others.flatMap(({ text }) => text.split('\n').filter((line) => /^(?:bin\/)?manta [a-z-]/.test(line)));
  const indented = withoutFences(page).match(/^ {4}(?:\$ )?(?:bin\/)?manta [a-z-].*$/gm) ?? [];
  return [...prompts, ...plain, ...indented].flatMap((line) => commandLines(line.trim()));
}

/** Code spans of a page, which may go over the end of a line. */
export function codeSpans(page: string): readonly string[] {
  const spans = withoutFences(page)
    .replaceAll('\\`', '')
    .matchAll(/`([^`]+)`/g);
  return [...spans].map(([, text]) => text!.replace(/\s+/g, ' ').trim());
}

const withoutFences = (page: string): string => page.replace(/^```[^]*?^```/gm, '');

/** The words of a command line as a shell would split it. */
export const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c!);
