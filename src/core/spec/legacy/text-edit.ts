/** A piece of text put in place of another; `end` is the first character behind what goes. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The text with all edits made. Edits must not overlap; of several at one place the earlier in the list comes first. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const ordered = edits
    .map((edit, index) => ({ edit, index }))
    .sort((a, b) => a.edit.start - b.edit.start || a.index - b.index);
  let result = '';
  let done = 0;
  for (const { edit } of ordered) {
    if (edit.start < done) return text;
    result += text.slice(done, edit.start) + edit.text;
    done = edit.end;
  }
  return result + text.slice(done);
}

export const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

/** Behind the line break that ends the line of `offset`; the end of the text when there is none. */
export function nextLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end + 1;
}

export const newlineOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

/** Lines moved to the right; blank ones stay empty. */
export const indented = (block: string, by: number): string => block.replace(/^(?=[^\r\n])/gm, ' '.repeat(by));
