import type { Problem } from '../problem.ts';
import type { ReadResult } from '../source.ts';
import { type Constructed, construct } from './construct.ts';
import { positionsOf, sourceOf } from './locate.ts';
import { refuseExplosions } from './measure.ts';
import { parseDocument, type Resolve } from './parser.ts';
import { YamlError, yamlProblems } from './problems.ts';

/** In code units of the text; bytes where bytes are given. */
const BIGGEST = 1024 * 1024;
const unprintable = /[^\t\n\r\x20-\x7E\x85\xA0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

/**
 * Reads a cluster file as Ray does, with PyYAML's `safe_load`: the same value, and a refusal where it refuses.
 * With `resolve`, plain scalars mean what that says. Refused besides: what is not part of a JSON value (`!!binary`, `!!set`, a value that contains itself), and what is too
 * big, too deep or expands too far (problems.ts). Never throws; one problem at most.
 */
export function readYaml(file: string, text: string, resolve?: Resolve, biggest = BIGGEST): ReadResult {
  const positionOf = positionsOf(text);
  try {
    if (text.length > biggest) {
      throw new YamlError(
        yamlProblems.tooBig,
        0,
        `${Math.ceil(text.length / BIGGEST)} MiB is too big for a cluster file`,
      );
    }
    refuseUnprintable(text);
    const root = parseDocument(text, resolve);
    if (root === undefined) return { source: sourceOf(file, text, positionOf) };
    const constructed: Constructed = construct(root);
    refuseExplosions(root, constructed.entries);
    return { source: sourceOf(file, text, positionOf, { root, constructed }) };
  } catch (refusal) {
    if (!(refusal instanceof YamlError)) throw refusal;
    const { problem, offset, message, hint } = refusal;
    const at = problem === yamlProblems.tooBig ? { line: 1, column: 1 } : positionOf(offset);
    return { problems: [{ code: problem.code, severity: 'error', at, path: [], message, hint }] };
  }
}

/** As `readYaml`, from the bytes of a file, which must be UTF-8. */
export function readYamlBytes(file: string, bytes: Uint8Array): ReadResult {
  const problem = (code: string, message: string, hint: string): { problems: Problem[] } => ({
    problems: [{ code, severity: 'error', at: { line: 1, column: 1 }, path: [], message, hint }],
  });
  if (bytes.length > 4 * BIGGEST) {
    const { code, hint } = yamlProblems.tooBig;
    return problem(code, `${Math.ceil(bytes.length / BIGGEST)} MiB is too big for a cluster file`, hint);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const { code, hint } = yamlProblems.encoding;
    return problem(code, 'the file is not UTF-8 text', hint);
  }
  return readYaml(file, text);
}

function refuseUnprintable(text: string): void {
  const found = unprintable.exec(text);
  if (found === null) return;
  const code = (found[0].codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
  throw new YamlError(yamlProblems.character, found.index, `the character U+${code} is not allowed in YAML`);
}
