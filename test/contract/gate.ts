import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** Where a job stands still until the test has seen what it came for. `wait` is shell text for its command. */
export function gate(t: Pick<TestContext, 'after'>): { readonly wait: string; readonly open: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'manta-gate-'));
  const file = join(folder, 'open');
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return { wait: `until [ -e ${file} ]; do sleep 0.05; done`, open: () => writeFileSync(file, '') };
}
