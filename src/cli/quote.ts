/** A word as a shell reads it back, quoted only where that is needed: Python's `shlex.quote`. */
export function quoted(word: string): string {
  if (word === '') return "''";
  return /[^\w@%+=:,./-]/.test(word) ? `'${word.replaceAll("'", `'"'"'`)}'` : word;
}
