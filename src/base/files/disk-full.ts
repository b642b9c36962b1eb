/** Whether the output of a tool says that a disk is full: tools have words for it, and no exit code. */
export const saysDiskFull = (output: string): boolean => /no space left|quota exceeded/i.test(output);
