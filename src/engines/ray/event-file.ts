import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Instant } from '../../base/time/clock.ts';

/** Something that drivers are told: Ray prints it as `(autoscaler +5s) …` in their output. */
export interface DriverNote {
  readonly level: 'info' | 'warn' | 'error';
  readonly text: string;
  readonly at: Instant;
}

const severity = { info: 'INFO', warn: 'WARNING', error: 'ERROR' } as const;

/** The file of events that Ray's log monitor on the head sends to every driver, one JSON object a line. */
export const notesFile = (session: string): string => join(session, 'logs', 'events', 'event_AUTOSCALER.log');

export const notesText = (notes: readonly DriverNote[]): string => notes.map(lineOf).join('');

/** Appends to it. False when this machine has no such folder, or it is another user's: Ray runs in a container or elsewhere. */
export async function appendNotes(session: string, notes: readonly DriverNote[]): Promise<boolean> {
  const logs = join(session, 'logs');
  const there = await stat(logs).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!there) return false;
  try {
    await mkdir(dirname(notesFile(session)), { recursive: true });
    await appendFile(notesFile(session), notesText(notes));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return false;
    throw error;
  }
}

function lineOf({ level, text, at }: DriverNote): string {
  const event = {
    event_id: randomBytes(18).toString('hex'),
    source_type: 'AUTOSCALER',
    source_hostname: hostname(),
    source_pid: process.pid,
    severity: severity[level],
    label: '',
    message: text,
    timestamp: String(Math.floor(at / 1_000)),
    custom_fields: {},
  };
  return `${JSON.stringify(event)}\n`;
}
