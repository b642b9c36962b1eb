import type { JSX } from 'preact';
import { ansiSpans, plainText } from '../../words/ansi.ts';

/** One line of output with its terminal colours, or with what was searched for marked. */
export function LogText({ line, pattern }: { line: string; pattern: RegExp | undefined }) {
  if (pattern !== undefined) {
    const text = plainText(line);
    const parts = marked(text, pattern);
    if (parts !== undefined) return <>{parts}</>;
  }
  if (!hasControl(line)) return <>{line}</>;
  return (
    <>
      {ansiSpans(line).map((span, index) => (
        <span key={index} class={span.classes}>
          {span.text}
        </span>
      ))}
    </>
  );
}

function hasControl(line: string): boolean {
  return line.includes('\u001b') || line.includes('\r');
}

function marked(text: string, pattern: RegExp): (string | JSX.Element)[] | undefined {
  pattern.lastIndex = 0;
  const parts: (string | JSX.Element)[] = [];
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > at) parts.push(text.slice(at, match.index));
    parts.push(<mark key={match.index}>{match[0]}</mark>);
    at = match.index + match[0].length;
  }
  if (at === 0) return undefined;
  parts.push(text.slice(at));
  return parts;
}
