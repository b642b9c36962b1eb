/**
 * What Ray tells in sentences only, made into values: here and nowhere else. Each sentence was recorded from the Rays that
 * are tested (`test/engines/ray/prose.test.ts`); one that is not known is a fault, never a guess.
 */

export interface ParsedRefusal {
  readonly kind: RefusalKind;
  /** Its last exception, with the class in front of it; the first line of a text without one. */
  readonly line: string;
  /** The same without the class; empty for a page of a proxy. */
  readonly words: string;
}

/**
 * - `exists`: the submission id is taken
 * - `not-over`: a job that has not ended cannot be deleted
 * - `invalid`: Ray will never take this request
 * - `declined`: not as things are: there is nothing of that name, somebody else is at it, too many ask
 * - `fault`: Ray could not
 */
export type RefusalKind = 'exists' | 'not-over' | 'invalid' | 'declined' | 'fault';

/** Malformed, too large, not understood. */
const lasting = [400, 413, 422];

const longest = 500;

/** Why Ray did not do what an HTTP request asked for. */
export function readRefusal(status: number, text: string): ParsedRefusal {
  const line = lineOf(text);
  const words = line.replace(exceptionClass, '').replace(/\.$/, '');
  return { kind: kindOf(status, text, words), line, words };
}

const exceptionClass = /^[A-Za-z_][\w.]{0,200}(?:Error|Exception): /;

function kindOf(status: number, text: string, words: string): RefusalKind {
  if (/^Job with submission_id .{1,500} already exists\b/.test(words)) return 'exists';
  if (/^Attempted to delete job .{1,500}, but it is in a non-terminal state/.test(words)) return 'not-over';
  // The agent that takes jobs answers 400 to what it cannot read; the dashboard in front of it makes 500 of that.
  const inner = /^RuntimeError: Request failed with status code (\d{3}): /m.exec(text)?.[1];
  const code = inner === undefined ? status : Number(inner);
  if (lasting.includes(code)) return 'invalid';
  return code >= 400 && code < 500 ? 'declined' : 'fault';
}

function lineOf(text: string): string {
  if (/^\s*</.test(text)) return '';
  const lines = text.trim().split('\n');
  const [first = ''] = lines;
  if (!first.startsWith('Traceback')) return first.slice(0, longest);
  return (lines.findLast((each) => exceptionClass.test(each)) ?? '').slice(0, longest);
}

/** What ended the actor that runs a job's entrypoint, where Ray's message says so. */
export function readDeath(message: string): 'preempted' | 'node-lost' | 'memory-limit' | undefined {
  if (/preempted/i.test(message)) return 'preempted';
  if (/its node (?:has )?died|node was terminated|node is dead/i.test(message)) return 'node-lost';
  // Of a process that was killed Ray lists what may have done it, a lack of memory first; that is not a finding.
  const findings = message.split(/common causes|potential root causes/i, 1)[0] ?? '';
  if (/out of memory|\boom\b|memory pressure|low (?:on )?memory/i.test(findings)) return 'memory-limit';
  return undefined;
}
