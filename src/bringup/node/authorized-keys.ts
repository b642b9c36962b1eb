import { editLinesText, literally } from '../../base/files/edit-lines.ts';

const target = '.ssh/authorized_keys';

/** Its type and its digits: whatever options and comment it was added with. */
const linesOf = (publicKey: string): string => literally(publicKey.trim().split(' ').slice(0, 2).join(' '));

/** Sh command that lets the cluster's key in on a host, for these addresses alone and for nothing but commands. */
export const authorizeKeyText = (publicKey: string, from: readonly string[]): string =>
  editLinesText({
    target,
    pattern: linesOf(publicKey),
    line: `restrict,pty,from="${from.join(',')}" ${publicKey.trim()}`,
  });

/** Sh text that takes the cluster's key out again, and says so when it is still there. */
export const removeKeyText = (publicKey: string): string =>
  `${editLinesText({ target, pattern: linesOf(publicKey) })} || echo "manta-left key"\n`;
