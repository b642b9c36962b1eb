import type { MantaEvent } from '../../base/events.ts';
import { redact } from '../../base/redact.ts';
import { eventLine, failureText } from './plain.ts';
import type { Renderer, Streams, Verbosity } from './renderer.ts';
import { isShown, printable } from './renderer.ts';
import type { Style } from './style.ts';

export interface Screen {
  readonly columns: () => number;
  readonly rows: () => number;
  /** Calls back until stopped, so that the spinner turns while nothing happens. */
  readonly every: (milliseconds: number, call: () => void) => { stop(): void };
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const barWidth = 20;

/** Lines that end stay above; what is still running is drawn below them and redrawn in place. */
export function liveRenderer(streams: Streams, verbosity: Verbosity, style: Style, screen: Screen): Renderer {
  const running = new Map<string, MantaEvent>();
  let drawn = 0;
  let frame = 0;
  let ticker: { stop(): void } | undefined;

  const erase = (): string => {
    const text = drawn === 0 ? '' : `\u001b[${drawn}A\u001b[0J`;
    drawn = 0;
    return text;
  };
  const draw = (): string => {
    const lines = [...running.values()].map((event) => progressLine(event, frames[frame]!, screen.columns(), style));
    const room = Math.max(1, screen.rows() - 2);
    const shown =
      lines.length <= room ? lines : [...lines.slice(0, room - 1), style.dim(`… and ${lines.length - room + 1} more`)];
    drawn = shown.length;
    return shown.map((line) => `${line}\n`).join('');
  };
  const above = (text: string): void => streams.stderr(`${erase()}${text}${draw()}`);
  const turn = (): void => {
    frame = (frame + 1) % frames.length;
    streams.stderr(`${erase()}${draw()}`);
  };
  const keepTurning = (): void => {
    if (running.size > 0) ticker ??= screen.every(100, turn);
    else {
      ticker?.stop();
      ticker = undefined;
    }
  };

  return {
    event(event) {
      if (!isShown(event, verbosity)) return;
      const { progress } = event;
      if (progress?.state === 'running') {
        running.set(progress.id, event);
        above('');
      } else {
        if (progress !== undefined) running.delete(progress.id);
        above(`${endedLine(event, style)}\n`);
      }
      keepTurning();
    },
    failure: (failure) => above(failureText(failure, style)),
    out(text) {
      const gone = erase();
      if (gone !== '') streams.stderr(gone);
      streams.stdout(text);
      // A result that does not end its line would be overwritten by the lines drawn below it.
      if (running.size > 0 && endsLine(text)) streams.stderr(draw());
    },
    close() {
      running.clear();
      keepTurning();
      const gone = erase();
      if (gone !== '') streams.stderr(gone);
    },
  };
}

const endsLine = (text: string | Uint8Array): boolean =>
  typeof text === 'string' ? text.endsWith('\n') : text.at(-1) === 10;

function endedLine(event: MantaEvent, style: Style): string {
  if (event.progress?.state === 'done') return `${style.green('✔')} ${printable(redact(event.text))}`;
  if (event.progress?.state === 'failed') return `${style.red('✖')} ${printable(redact(event.text))}`;
  return eventLine(event, style);
}

function progressLine({ text, progress }: MantaEvent, spinner: string, columns: number, style: Style): string {
  const fraction = progress?.fraction;
  const bar = fraction === undefined ? '' : ` ${barOf(fraction)}`;
  const room = Math.max(1, columns - 3 - bar.length);
  const line = printable(redact(text)).replaceAll('\n', ' ');
  const shown = line.length > room ? `${line.slice(0, room - 1)}…` : line;
  return `${style.cyan(spinner)} ${shown}${style.dim(bar)}`;
}

function barOf(fraction: number): string {
  const part = Math.min(1, Math.max(0, fraction));
  const full = Math.round(part * barWidth);
  return `${'█'.repeat(full)}${'░'.repeat(barWidth - full)} ${String(Math.round(part * 100)).padStart(3)}%`;
}
