import type { MantaEvent } from '../../base/events.ts';
import { isSecretName, redact } from '../../base/redact.ts';
import type { Renderer, Streams, Verbosity } from './renderer.ts';
import { isShown } from './renderer.ts';

/** One JSON object a line: events and errors on standard error, results on standard output. */
export function jsonRenderer(streams: Streams, verbosity: Verbosity): Renderer {
  const line = (value: unknown): void => streams.stderr(`${JSON.stringify(value, safely)}\n`);
  return {
    event(event: MantaEvent) {
      if (!isShown(event, verbosity)) return;
      const { code, level, at, text, data, progress } = event;
      line({ at: new Date(at).toISOString(), level, code, text, data, progress });
    },
    failure({ code, message, hint, details }) {
      line({ level: 'error', code, message, hint, details: details.length > 0 ? details : undefined });
    },
    out: (text) => streams.stdout(text),
    close: () => {},
  };
}

/** Hides credentials, and writes what JSON has no form for. */
function safely(key: string, value: unknown): unknown {
  if (typeof value === 'string') return isSecretName(key) ? '***' : redact(value);
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Map) return Object.fromEntries(value);
  if (value instanceof Set) return [...value];
  return value;
}
