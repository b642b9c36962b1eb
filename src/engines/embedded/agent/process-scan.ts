import type { ProcessRow } from '../../../base/process.ts';
import { marksOf, processesIn, processTable, startedSince, withDescendants } from '../../../base/process.ts';

interface Snapshot {
  readonly rows: readonly ProcessRow[];
  readonly marks: ReadonlyMap<number, string>;
}

/**
 * The process table as it stands after the call. Everybody who asks in one turn of the loop shares one reading. What is
 * older than this process cannot be its work and is left out.
 */
export class ProcessScan {
  #coming: Promise<Snapshot> | undefined;

  /** Processes of one attempt: its session, what carries its mark or works in its folder, and all below them. */
  async tree(session: number | undefined, word: string, folder: string): Promise<ProcessRow[]> {
    const { rows, marks } = await this.#snapshot();
    const inside = new Set(processesIn(folder, rows));
    const roots = rows.filter(
      (row) =>
        inside.has(row.pid) ||
        (session !== undefined && (row.session === session || row.group === session)) ||
        marks.get(row.pid)?.includes(`:${word}:`),
    );
    const found = new Set(withDescendants(rows, roots));
    return rows.filter((row) => found.has(row.pid));
  }

  #snapshot(): Promise<Snapshot> {
    this.#coming ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#coming = undefined;
        const all = processTable();
        const me = all.find((row) => row.pid === process.pid);
        const rows = (me ? startedSince(me, all) : all).filter((row) => row.pid !== process.pid);
        resolve({ rows, marks: marksOf(rows) });
      });
    });
    return this.#coming;
  }
}
