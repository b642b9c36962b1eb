import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import {
  type ClusterRecord,
  changeCluster,
  createCluster,
  headRecordIn,
  peekCluster,
  readCluster,
  readLaptopRecord,
  restoreCluster,
  withRemoteHead,
} from '../../src/state/cluster-record.ts';
import { stateErrors } from '../../src/state/errors.ts';
import { type StateFolder, stateFolder } from '../../src/state/state-folder.ts';

const home = mkdtempSync(join(tmpdir(), 'manta-record-'));
after(() => rmSync(home, { recursive: true, force: true }));

let made = 0;
/** A state folder whose record holds this. */
function holding(value: unknown): StateFolder {
  const folder = stateFolder(home, `c${++made}`);
  mkdirSync(folder.path, { recursive: true });
  writeFileSync(folder.files.cluster, typeof value === 'string' ? value : JSON.stringify(value));
  return folder;
}

const written = ({ files }: StateFolder): Record<string, unknown> =>
  JSON.parse(readFileSync(files.cluster, 'utf8')) as Record<string, unknown>;

const config = { path: '/tmp/c.yaml', text: 'cluster_name: c\n', env: { TOKEN: 'x' } };
const ray = {
  id: '0123456789abcdef',
  instance: 'head-1',
  address: '10.0.0.1',
  gcsPort: 6379,
  dashboardPort: 8264,
  loginShells: true,
  usageStats: false,
  mounts: [{ remote: '/data', local: '/data', directory: true }],
};
const python = { path: '/opt/ray/bin/python', version: '2.49.0' };
const common = { format: 1, name: 'c', machine: hostname(), createdAt: 1_794_838_674_256 };

/** Records of 0.1.0, which knew no roles, by the role that each stands for. */
const older = {
  'this-machine': [
    { ...common, engine: 'embedded' },
    { ...common, engine: 'embedded', config, port: 8265, overrides: { maxWorkers: 4 }, until: 5 },
    { ...common, engine: 'ray', python },
    { ...common, engine: 'embedded', turningOff: { since: 1, why: 'idle' } },
    { ...common, engine: 'embedded', ended: { at: 1, why: 'idle', left: [] } },
  ],
  laptop: [
    { ...common, engine: 'ray', config, overrides: {}, remote: { address: '10.0.0.1' } },
    { ...common, engine: 'ray', config, remote: { clusterId: 'c', launchToken: 'head-1' } },
    {
      ...common,
      engine: 'ray',
      config,
      remote: { address: '10.0.0.1', instance: 'i-1', clusterId: 'c', launchToken: 'head-1', askedAt: 1 },
      endingSince: 2,
      ended: { at: 1, why: 'gone', left: [], headGone: true, lost: { instance: 'i-1', workers: 2 } },
    },
    // A cluster of this machine that became one of other machines.
    { ...common, engine: 'ray', config, overrides: {}, port: 8265, python, remote: { address: '10.0.0.1' } },
  ],
  head: [
    { ...common, engine: 'ray', config, overrides: {}, ray },
    {
      ...common,
      engine: 'ray',
      config,
      ray: { ...ray, leaveWorkers: true, versions: { ray: '2.49.0', python: '3.11' } },
    },
  ],
} as const;

describe('a record of an older Manta', () => {
  for (const [role, records] of Object.entries(older))
    test(`is read as one of the role ${role}, with all that it holds`, () => {
      for (const record of records) assert.deepEqual(readCluster(holding(record)), { ...record, role });
    });

  test('of a cluster on its way into a cloud has the engine of one', () => {
    const cutShort = { ...common, engine: 'embedded', remote: { clusterId: 'c', launchToken: 'head-1' } };
    assert.deepEqual(readCluster(holding(cutShort)), { ...cutShort, role: 'laptop', engine: 'ray' });
  });

  test('has its role written down with the next change', () => {
    const folder = holding(older.head[0]);
    changeCluster(folder, (record) => ({ ...record, turningOff: { since: 1, why: 'idle' } }));
    assert.deepEqual(written(folder), { ...older.head[0], role: 'head', turningOff: { since: 1, why: 'idle' } });
  });

  test('that came in the place of a newer one is put back as it was', () => {
    const folder = holding({ ...older.head[0], role: 'head' });
    const text = JSON.stringify(older.head[0]);
    restoreCluster(folder, text);
    assert.deepEqual(written(folder), older.head[0]);
    writeFileSync(folder.files.cluster, '');
    assert.deepEqual(readCluster(folder), { ...older.head[0], role: 'head' }, 'its copy is of the same');
  });
});

describe('a record that an older Manta has changed', () => {
  test('keeps its role where the cluster is what it was', () => {
    for (const [role, records] of Object.entries(older))
      for (const record of records)
        assert.equal(readCluster(holding({ ...record, role, endingSince: 3 }))?.role, role, JSON.stringify(record));
  });

  test('of a cluster of this machine that it brought up on others is one of a laptop', () => {
    const changed = { ...common, role: 'this-machine', engine: 'ray', config, remote: { address: '10.0.0.1' } };
    assert.deepEqual(readCluster(holding(changed)), { ...changed, role: 'laptop' });
  });

  test('of other machines that it brought up here is still one of a laptop, as it is for the older Manta', () => {
    const changed = { ...common, role: 'laptop', engine: 'ray', python, remote: { address: '10.0.0.1' } };
    assert.deepEqual(readLaptopRecord(holding(changed)), changed);
  });
});

test('a record is written so that an older Manta finds its fields where they were', () => {
  const folder = stateFolder(home, 'laid-out');
  const { format, name, machine, ...given } = common;
  const records = [
    { role: 'this-machine', ...given, engine: 'ray', python, port: 8265 },
    { role: 'laptop', ...given, engine: 'ray', config, remote: { address: '10.0.0.1' } },
    { role: 'head', ...given, engine: 'ray', config, ray },
  ] as const;
  for (const record of records) {
    createCluster(folder, record);
    assert.deepEqual(written(folder), { ...record, format, name: 'laid-out', machine });
  }
});

test('fields of a later Manta outlive a change', () => {
  const folder = holding({ ...older.head[0], role: 'head', ray: { ...ray, later: [1] }, later: { on: true } });
  changeCluster(folder, (record) => ({ ...record, until: 7 }));
  const { later, until, ray: kept } = written(folder);
  assert.deepEqual([later, until, kept], [{ on: true }, 7, { ...ray, later: [1] }]);
});

describe('what is not a record of this folder is refused:', () => {
  const refused = (value: unknown, detail: RegExp | undefined): void => {
    const folder = holding(value);
    const text = readFileSync(folder.files.cluster, 'utf8');
    assert.throws(
      () => readCluster(folder),
      (error) => {
        if (detail === undefined) return stateErrors.FolderNewer.is(error);
        assert.ok(stateErrors.FolderForeign.is(error), String(error));
        assert.match(error.data.detail, detail);
        return true;
      },
    );
    assert.equal(readFileSync(folder.files.cluster, 'utf8'), text);
  };
  const [here] = older['this-machine'];
  const [laptop] = older.laptop;
  const [head] = older.head;
  for (const [what, value, detail] of [
    ['null', null, /^its cluster.json was not written by Manta$/],
    ['a list', [], /^its cluster.json was not written by Manta$/],
    ['a text', '"cluster"', /^its cluster.json was not written by Manta$/],
    ['an object of something else', {}, /^its cluster.json was not written by Manta$/],
    ['a newer format, whatever it holds', { format: 2, name: 'c' }, undefined],
    ['another machine', { ...here, machine: 'elsewhere' }, /^it belongs to the machine 'elsewhere'$/],
    ['no machine', { ...here, machine: undefined }, /^it belongs to the machine 'undefined'$/],
    ['no time', { ...here, createdAt: undefined }, /: 'createdAt' is missing$/],
    ['a time in words', { ...here, createdAt: 'today' }, /: 'createdAt' is not a number$/],
    ['an engine that nobody knows', { ...here, engine: 'steam' }, /: 'engine' is not one of embedded, ray$/],
    ['a role that nobody knows', { ...here, role: 'spare' }, /: 'role' is not one of this-machine, laptop, head$/],
    ['a file without its text', { ...here, config: { path: 'x', env: {} } }, /: 'config.text' is missing$/],
    [
      'variables that are no text',
      { ...here, config: { ...config, env: { A: 1 } } },
      /: 'config.env.A' is not a string$/,
    ],
    [
      'limits that are no numbers',
      { ...here, overrides: { maxWorkers: '4' } },
      /: 'overrides.maxWorkers' is not a number$/,
    ],
    ['half a Python', { ...here, engine: 'ray', python: { path: 'x' } }, /: 'python.version' is missing$/],
    ['a laptop without its head', { ...laptop, role: 'laptop', remote: undefined }, /: 'remote' is missing$/],
    ['a head as a text', { ...laptop, remote: '10.0.0.1' }, /: 'remote' is not an object$/],
    ['a head without Ray', { ...head, role: 'head', ray: undefined }, /: 'ray' is missing$/],
    ['a head without its port', { ...head, ray: { ...ray, gcsPort: undefined } }, /: 'ray.gcsPort' is missing$/],
    ['half a mount', { ...head, ray: { ...ray, mounts: [{ remote: 'x' }] } }, /: 'ray.mounts\[0\].local' is missing$/],
  ] as const)
    test(what, () => refused(value, detail));
});

test('a record is peeked at wherever it belongs, and none is found where it cannot be used', () => {
  assert.equal(peekCluster(holding({ ...older.laptop[0], machine: 'elsewhere' }))?.role, 'laptop');
  for (const unusable of ['', '{"format":1,"na', '{}', { ...older.laptop[0], remote: 1 }])
    assert.equal(peekCluster(holding(unusable)), undefined);
  assert.equal(peekCluster(stateFolder(home, 'none')), undefined);
});

test('what a machine says is taken for the record of a head only where it is one', () => {
  const [head] = older.head;
  assert.deepEqual(headRecordIn(`${JSON.stringify({ ...head, machine: 'h1' })}\n`), {
    ...head,
    machine: 'h1',
    role: 'head',
  });
  for (const other of [
    '',
    'no such file',
    '{}',
    JSON.stringify(older.laptop[0]),
    JSON.stringify(older['this-machine'][0]),
  ])
    assert.equal(headRecordIn(other), undefined, other);
});

test('a cluster that moves to other machines leaves behind what only this machine knew', () => {
  const remote = { address: '10.0.0.1' };
  for (const records of Object.values(older))
    for (const record of records) {
      const before = readCluster(holding(record)) as ClusterRecord;
      const moved = withRemoteHead(before, remote);
      assert.deepEqual([moved.role, moved.engine, moved.remote], ['laptop', 'ray', remote]);
      if (before.role !== 'laptop') for (const field of ['port', 'python', 'ray']) assert.ok(!(field in moved), field);
      assert.deepEqual([moved.config, moved.createdAt, moved.ended], [before.config, before.createdAt, before.ended]);
    }
});
