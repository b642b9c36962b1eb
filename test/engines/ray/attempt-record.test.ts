import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { type AttemptRecord, AttemptRecords } from '../../../src/engines/ray/jobs/attempt-record.ts';

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'manta-records-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const open = (folder: string, most?: number): AttemptRecords =>
  new AttemptRecords(folder, (path, why) => assert.fail(`${path}: ${why.message}`), most);

const recordOf = (id: string, more: Partial<AttemptRecord> = {}): AttemptRecord => ({
  ...{ format: 1, id, submission: id, log: '/log', entrypoint: 'true' },
  ...more,
});

const isFree = (): boolean => false;

it('a record is what was written last', (t) => {
  const folder = folderOf(t);
  const records = open(folder);
  records.write(recordOf('a.1', { sent: true }), true);
  records.write(recordOf('a.1', { sent: true, accepted: true }));
  assert.deepEqual(open(folder).all(), [recordOf('a.1', { sent: true, accepted: true })]);
  records.remove(recordOf('a.1'));
  assert.deepEqual(open(folder).all(), []);
});

it('half a line at the end of a record costs only that line, and is no trouble to the next', (t) => {
  const folder = folderOf(t);
  const records = open(folder);
  records.write(recordOf('a.1'));
  appendFileSync(join(folder, 'ray-attempts', 'a.1.json'), '\n{"format":1,"id":"a.1","accep');
  assert.deepEqual(open(folder).all(), [recordOf('a.1')]);
  records.write(recordOf('a.1', { accepted: true }));
  assert.deepEqual(open(folder).all(), [recordOf('a.1', { accepted: true })]);
});

it('attempts of a job with a long name, and names that differ in case only, have records of their own', (t) => {
  const folder = folderOf(t);
  const records = open(folder);
  const ids = [...['1', '2', '11'].map((number) => `${'x'.repeat(400)}.${number}`), 'Job.1', 'job.1', 'a/b.1', 'ä.1'];
  for (const id of ids) records.write(recordOf(id));
  const found = open(folder).all();
  assert.deepEqual(found.map(({ id }) => id).sort(), [...ids].sort());
  const files = readdirSync(join(folder, 'ray-attempts')).map((name) => name.toLowerCase());
  assert.equal(new Set(files).size, files.length);
});

it('a record under the name that an earlier version gave it is there once', (t) => {
  const folder = folderOf(t);
  const file = (name: string): string => join(folder, 'ray-attempts', name);
  open(folder).write(recordOf('job.1'));
  writeFileSync(file('job.1.json'), JSON.stringify(recordOf('A%.1')));
  renameSync(file('job.1.json'), file('A%25.1.json'));
  for (const records of [open(folder), open(folder)]) {
    assert.deepEqual(records.all(), [recordOf('A%.1')]);
    records.write(recordOf('A%.1'));
  }
});

it('the ids of forgotten attempts do not grow without bound', (t) => {
  const folder = folderOf(t);
  const records = open(folder, 10);
  for (let number = 0; number < 100; number++) {
    const record = recordOf(`a.${number}`);
    records.forget(record);
    records.remove(record);
  }
  const lines = readFileSync(join(folder, 'ray-attempts', 'used'), 'utf8')
    .trim()
    .split('\n');
  assert.ok(lines.length <= 20, `${lines.length}`);
  assert.equal(records.freeName('a.99', isFree), 'a.99-2');
  assert.equal(records.freeName('a.0', isFree), 'a.0');
});

it('a name is given once, also where an earlier version wrote down ids', (t) => {
  const folder = folderOf(t);
  const used = join(folder, 'ray-attempts', 'used');
  open(folder).forget(recordOf('a.1', { submission: 'a' }));
  // The second time an id stood for itself and `-2`.
  appendFileSync(used, 'b.1\nb.1\n');
  const records = open(folder);
  assert.equal(records.freeName('a', isFree), 'a-2');
  assert.equal(records.freeName('b', isFree), 'b');
  assert.equal(records.freeName('b.1', isFree), 'b.1-3');
  assert.equal(
    records.freeName('c', (name) => name === 'c'),
    'c-2',
  );
});
