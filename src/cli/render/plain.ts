import type { MantaEvent } from '../../base/events.ts';
import { redact } from '../../base/redact.ts';
import type { Failure, Renderer, Streams, Verbosity } from './renderer.ts';
import { isShown, printable } from './renderer.ts';
import type { Style } from './style.ts';

/** One line an event, nothing redrawn: for files, pipes and build servers. */
export function plainRenderer(streams: Streams, verbosity: Verbosity, style: Style): Renderer {
  const told = new Map<string, string>();
  return {
    event(event) {
      if (!isShown(event, verbosity) || !isNews(event, told)) return;
      streams.stderr(`${eventLine(event, style)}\n`);
    },
    failure: (failure) => streams.stderr(failureText(failure, style)),
    out: (text) => streams.stdout(text),
    close: () => {},
  };
}

/** Long work is told when it begins, at each quarter, and when it ends. */
function isNews({ text, progress }: MantaEvent, told: Map<string, string>): boolean {
  if (progress === undefined) return true;
  if (progress.state !== 'running') return told.delete(progress.id) || true;
  const step = progress.fraction === undefined ? text : String(Math.floor(progress.fraction * 4));
  if (told.get(progress.id) === step) return false;
  told.set(progress.id, step);
  return true;
}

export function eventLine({ level, text, progress }: MantaEvent, style: Style): string {
  const shown = printable(redact(text));
  if (level === 'error' || progress?.state === 'failed') return `${style.red('error:')} ${shown}`;
  if (level === 'warn') return `${style.yellow('warning:')} ${shown}`;
  if (level === 'debug') return style.dim(`debug: ${shown}`);
  return shown;
}

export function failureText({ code, message, hint, details }: Failure, style: Style): string {
  const [first = '', ...more] = printable(message).split('\n');
  const lines = [
    `${style.red('error:')} ${first} ${style.dim(`(${code})`)}`,
    ...more,
    ...(hint === undefined ? [] : [`${style.cyan('hint:')} ${printable(hint)}`]),
    ...details.map((detail) => style.dim(printable(detail))),
  ];
  return `${lines.join('\n')}\n`;
}
