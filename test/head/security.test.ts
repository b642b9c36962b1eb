// needs: cluster

/** What a cluster shows, to whom, and what it refuses, over the real sockets of a real mantad. */
import assert from 'node:assert/strict';
import { lstatSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { WebSocket } from 'ws';
import { ZipFile } from 'yazl';
import { eventually, filesIn, listening, type Raw, raw, TestCluster, TestHome, workersYaml } from './test-cluster.ts';

describe('a cluster is safe by default', () => {
  let home: TestHome;
  let cluster: TestCluster;
  const secret = 'hunter2-the-secret-value';
  const bearer = (token = cluster.token): Record<string, string> => ({ authorization: `Bearer ${token}` });

  const cleanUps: (() => Promise<void>)[] = [];
  after(async () => {
    for (const cleanUp of cleanUps) await cleanUp();
  });

  before(async () => {
    home = new TestHome({ after: (work) => cleanUps.push(work) });
    cluster = await TestCluster.up(home, workersYaml({ cpus: 4, max: 1 }));
    await cluster.submit({
      id: 'secretive',
      entrypoint: `echo done # https://ada:${secret}@host/x?sig=${secret}`,
      metadata: { source: `https://ada:${secret}@host/x` },
      runtime_env: { env_vars: { PASSWORD: secret } },
    });
    await cluster.finish('secretive');
  });

  test('it listens on loopback and nowhere else', () => {
    const sockets = listening(home.processes().map(({ pid }) => pid));
    const loopback = ['tcp 0100007F', 'tcp6 00000000000000000000000001000000'];
    const held = sockets.map((each) => each.replace(/:[0-9A-F]+$/, ''));
    assert.deepEqual(held, loopback.slice(0, held.length));
    assert.ok(held.length > 0);
  });

  test('state is for its user alone', () => {
    assert.equal(lstatSync(cluster.folder.path).mode & 0o777, 0o700);
    for (const name of filesIn(cluster.folder.path)) {
      const found = lstatSync(join(cluster.folder.path, name), { throwIfNoEntry: false });
      if (found) assert.equal(found.mode & 0o077, 0, `${name} is open to others: ${(found.mode & 0o777).toString(8)}`);
    }
    assert.equal(lstatSync(join(cluster.folder.files.tokens, 'owner')).mode & 0o777, 0o600);
    assert.ok(!readFileSync(cluster.folder.files.journal).includes(cluster.token), 'the journal holds hashes only');
  });

  test('everything but health, metrics, the page and what Ray leaves open needs a token', async () => {
    const open = ['/healthz', '/readyz', '/metrics', '/', '/api/authentication_mode', '/api/healthz'];
    for (const path of open) assert.equal((await raw(cluster.url, { path })).status, 200, path);
    const closed = [
      ['GET', '/api/version'],
      ['GET', '/api/jobs/'],
      ['POST', '/api/jobs/'],
      ['GET', '/api/jobs/secretive'],
      ['GET', '/api/jobs/secretive/logs'],
      ['POST', '/api/jobs/secretive/stop'],
      ['DELETE', '/api/jobs/secretive'],
      ['GET', '/api/packages/gcs/x.zip'],
      ['PUT', '/api/packages/gcs/x.zip'],
      ...[
        'cluster',
        'nodes',
        'demand',
        'events',
        'history',
        'stream',
        'status',
        'jobs',
        'jobs/secretive',
        'users',
        'why/demand/all',
      ].map((path) => ['GET', `/api/manta/v1/${path}`]),
      ...[
        'jobs',
        'jobs/secretive/stop',
        'reload',
        'request-resources',
        'nodes/x/drain',
        'nodes/x/end',
        'users',
        'tickets',
      ].map((path) => ['POST', `/api/manta/v1/${path}`]),
      ['GET', '/api/no-such-thing'],
    ];
    for (const [method = '', path = ''] of closed) {
      assert.equal((await raw(cluster.url, { method, path })).status, 401, `${method} ${path}`);
      for (const authorization of ['Bearer wrong', 'Bearer ', `Basic ${cluster.token}`, `bearer${cluster.token}`])
        assert.equal(
          (await raw(cluster.url, { method, path, headers: { authorization } })).status,
          403,
          `${method} ${path} with '${authorization}'`,
        );
    }
    assert.equal((await raw(cluster.url, { path: '/api/version', headers: bearer() })).status, 200);
  });

  test('the page may run and load nothing but its own', async () => {
    const answer = await fetch(`${cluster.url}/`);
    assert.equal(
      answer.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    );
    await answer.text();
  });

  test('a request under another host name or from another site is refused, token or not', async () => {
    for (const host of ['evil.example', 'evil.example:8265', '127.0.0.1.evil.example', '0.0.0.0', '10.0.0.1']) {
      const answer = await raw(cluster.url, { path: '/api/version', headers: { ...bearer(), host } });
      assert.ok(answer.status === 403 || answer.status === 400, `${host}: ${answer.status}`);
    }
    const body = JSON.stringify({ entrypoint: 'true' });
    const from = async (headers: Record<string, string>, path = '/api/manta/v1/jobs'): Promise<number> =>
      (await raw(cluster.url, { method: 'POST', path, body, headers: { ...bearer(), ...headers } })).status;
    assert.equal(await from({ origin: 'https://evil.example' }), 403);
    assert.equal(await from({ origin: 'null' }), 403);
    assert.equal(await from({ 'sec-fetch-site': 'cross-site' }), 403);
    assert.equal(await from({ 'sec-fetch-site': 'same-site' }), 403);
    assert.equal(await from({ origin: 'https://evil.example' }, '/api/jobs/'), 405);
    assert.equal(await from({ origin: cluster.url, 'sec-fetch-site': 'same-origin' }), 200);
  });

  test('names that lead out of their folder are refused', async () => {
    const names = [
      '..%2f..%2fetc%2fpasswd',
      '%2e%2e',
      '..%2fx.zip',
      '%2fetc%2fpasswd.zip',
      'a%00b.zip',
      `${'x'.repeat(5_000)}.zip`,
    ];
    for (const name of names) {
      for (const path of [
        `/api/packages/gcs/${name}`,
        `/api/jobs/${name}`,
        `/api/jobs/${name}/logs`,
        `/api/manta/v1/jobs/${name}/logs`,
        `/assets/${name}`,
      ]) {
        const { status, body } = await raw(cluster.url, { path, headers: bearer() });
        const isPage = path.startsWith('/assets/') && body.startsWith('<!doctype html>');
        assert.ok(status === 400 || status === 404 || isPage, `${path.slice(0, 80)}: ${status}`);
        assert.ok(!body.includes('root:'), path);
      }
      const put = await raw(cluster.url, {
        method: 'PUT',
        path: `/api/packages/gcs/${name}`,
        headers: bearer(),
        body: 'x',
      });
      assert.ok(put.status === 400 || put.status === 404, `PUT ${name.slice(0, 80)}: ${put.status}`);
    }
    for (const id of ['../up', '/etc/x', 'a/b', '.', '..', '.hidden', 'x'.repeat(500), 'a b', 'a\nb', '-rf']) {
      const { status } = await raw(cluster.url, {
        method: 'POST',
        path: '/api/manta/v1/jobs',
        headers: bearer(),
        body: JSON.stringify({ id, entrypoint: 'true' }),
      });
      assert.equal(status, 400, JSON.stringify(id.slice(0, 20)));
    }
  });

  test('a path or a length that could be read in two ways is refused before anybody looks at it', async () => {
    for (const path of ['/api%2fjobs/', '/api%5cjobs/', '/%00', '/api/jobs/%zz', '//%2f/']) {
      const { status, body } = await raw(cluster.url, { path, headers: bearer() });
      assert.equal(status, 400, path);
      assert.match(body, /MANTA_GATEWAY_BAD_REQUEST/, path);
    }
    const other = { ...bearer(), host: 'other.localhost' };
    assert.equal((await raw(cluster.url, { path: '/api/version', headers: other })).status, 403);
    const own = { ...bearer(), host: `${cluster.folder.name}.localhost` };
    assert.equal((await raw(cluster.url, { path: '/api/version', headers: own })).status, 200);
    for (const path of ['/manta/api/manta/v1/jobs', '/manta/../api/manta/v1/jobs', '/assets/..//api/manta/v1/jobs'])
      assert.equal((await raw(cluster.url, { path })).status, 401, path);
    assert.equal((await raw(cluster.url, { path: '/manta/' })).status, 200);
  });

  test('the socket of mantad is for its user alone, and asks for a token too', async () => {
    const socketPath = join(cluster.folder.path, 'mantad.sock');
    assert.equal(lstatSync(socketPath).mode & 0o777, 0o600);
    const ask = (headers: Record<string, string>): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        request({ socketPath, path: '/api/version', headers: { host: 'localhost', ...headers } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        })
          .on('error', reject)
          .end();
      });
    assert.deepEqual([await ask({}), await ask(bearer())], [401, 200]);
  });

  test('an archive whose entries lead out of their folder fails its job and writes nothing', async () => {
    const evil = await evilZip();
    const path = '/api/packages/gcs/evil.zip';
    assert.equal((await raw(cluster.url, { method: 'PUT', path, headers: bearer(), body: evil })).status, 200);
    await cluster.submit({ id: 'slips', entrypoint: 'true', runtime_env: { working_dir: 'gcs://evil.zip' } });
    const job = await cluster.finish('slips');
    assert.deepEqual([job.state, job.errorType], ['failed', 'RUNTIME_ENV_SETUP_FAILURE']);
    assert.deepEqual(
      filesIn(home.path).filter((name) => name.includes('escaped')),
      [],
    );
    assert.equal(lstatSync(join(tmpdir(), 'escaped.txt'), { throwIfNoEntry: false }), undefined);
  });

  test('bodies, headers and counts have limits', async () => {
    const post = (body: string): Promise<Raw> =>
      raw(cluster.url, { method: 'POST', path: '/api/manta/v1/jobs', headers: bearer(), body });
    assert.equal((await post(JSON.stringify({ entrypoint: 'x'.repeat(3 << 20) }))).status, 413);
    assert.equal((await post(JSON.stringify({ entrypoint: 'x'.repeat(100_000) }))).status, 400);
    assert.equal((await post('{"entrypoint": ')).status, 400);
    assert.equal((await post('[]')).status, 400);
    assert.equal(
      (await post(JSON.stringify({ entrypoint: 'true', depends_on: Array.from({ length: 2_000 }, String) }))).status,
      400,
    );
    assert.equal(
      (
        await post(
          JSON.stringify({ entrypoint: 'true', gang: { bundles: Array.from({ length: 5_000 }, () => ({ CPU: 1 })) } }),
        )
      ).status,
      400,
    );
    assert.equal((await raw(cluster.url, { path: '/healthz', headers: { long: 'x'.repeat(40_000) } })).status, 431);
    const large = JSON.stringify({ bundles: 'x'.repeat(3_000_000) });
    assert.equal(
      (
        await raw(cluster.url, {
          method: 'POST',
          path: '/api/manta/v1/request-resources',
          headers: bearer(),
          body: large,
        })
      ).status,
      413,
    );
    await rubbish(cluster.url);
    assert.equal((await cluster.ask('GET', '/healthz')).status, 200);
  });

  test('credentials and values of env_vars are shown to the owner of the job alone, and stand in no listing, event or log', async () => {
    assert.ok(JSON.stringify(await cluster.get('/jobs/secretive')).includes(secret), 'its owner sees it');
    const added = await cluster.ask('POST', '/api/manta/v1/users', { name: 'visitor' });
    const visitor = (added.body as { token: string }).token;
    // Ray's listing shows a job's own words to those who may read it in full.
    for (const path of [
      '/api/jobs/',
      '/api/manta/v1/jobs',
      '/api/manta/v1/events?limit=2000',
      '/api/manta/v1/why/job/secretive',
      '/metrics',
    ])
      for (const token of path === '/api/jobs/' || path.includes('/why/') ? [visitor] : [cluster.token, visitor]) {
        const { body } = await raw(cluster.url, { path, headers: bearer(token) });
        assert.ok(!body.includes(secret), path);
      }
    for (const path of ['/api/jobs/secretive', '/api/manta/v1/jobs/secretive'])
      assert.ok(!(await raw(cluster.url, { path, headers: bearer(visitor) })).body.includes(secret), path);
    for (const path of ['/api/jobs/secretive/logs', '/api/manta/v1/jobs/secretive/logs'])
      assert.equal((await raw(cluster.url, { path, headers: bearer(visitor) })).status, 403, path);
    assert.ok(!readFileSync(cluster.folder.files.daemonLog).includes(secret));
    assert.ok(!home.processes().some(({ command }) => command.includes(secret)));
  });

  test('output that the message of a failed job quotes is for its owner', async () => {
    await cluster.submit({ id: 'loud', entrypoint: 'echo spoken-$((40 + 2)); exit 3' });
    assert.match((await cluster.finish('loud')).message, /spoken-42/);
    const added = await cluster.ask('POST', '/api/manta/v1/users', { name: 'listener' });
    const listener = (added.body as { token: string }).token;
    for (const path of [
      '/api/jobs/',
      '/api/jobs/loud',
      '/api/manta/v1/jobs',
      '/api/manta/v1/jobs/loud',
      '/api/manta/v1/why/job/loud',
      '/api/manta/v1/events?limit=2000',
    ]) {
      const { status, body } = await raw(cluster.url, { path, headers: bearer(listener) });
      assert.equal(status, 200, path);
      assert.match(body, /loud/, path);
      assert.doesNotMatch(body, /spoken-42/, path);
    }
  });

  test('a revoked token stops working at once, in streams that are open too', async () => {
    const added = await cluster.ask('POST', '/api/manta/v1/users', { name: 'guest' });
    const token = (added.body as { token: string }).token;
    const submitted = await raw(cluster.url, {
      method: 'POST',
      path: '/api/manta/v1/jobs',
      headers: bearer(token),
      body: JSON.stringify({ id: 'guests', entrypoint: 'while :; do echo tick; sleep 0.05; done' }),
    });
    assert.equal(submitted.status, 200);
    await cluster.reach('guests', 'running');
    const streams = ['/api/manta/v1/stream', '/api/manta/v1/jobs/guests/logs/follow'].map((path) => {
      const stream = { open: false, closed: false };
      const sent = request(new URL(path, cluster.url), { headers: bearer(token) }, (answer) => {
        answer.once('data', () => (stream.open = true));
        answer.on('data', () => {});
        answer.on('close', () => (stream.closed = true));
        answer.on('error', () => {});
      });
      sent.on('error', () => (stream.closed = true));
      sent.end();
      return stream;
    });
    const socket = new WebSocket(`${cluster.url.replace('http', 'ws')}/api/jobs/guests/logs/tail`, {
      headers: bearer(token),
    });
    const tail = { open: false, closed: false };
    socket.on('message', () => (tail.open = true));
    socket.on('close', () => (tail.closed = true));
    socket.on('error', () => {});
    await eventually('all streams are open', () => [...streams, tail].every(({ open }) => open));
    assert.ok([...streams, tail].every(({ closed }) => !closed));

    assert.equal((await cluster.ask('DELETE', '/api/manta/v1/users/guest')).status, 200);
    assert.equal((await raw(cluster.url, { path: '/api/manta/v1/jobs', headers: bearer(token) })).status, 403);
    await eventually('all streams are closed', () => [...streams, tail].every(({ closed }) => closed));
    assert.equal((await cluster.job('guests')).state, 'running', 'the jobs of a revoked user go on');
    await cluster.ask('POST', '/api/manta/v1/jobs/guests/stop');
    await cluster.reach('guests', 'stopped');
  });

  test('only an administrator manages users and the cluster', async () => {
    const added = await cluster.ask('POST', '/api/manta/v1/users', { name: 'plain' });
    const token = (added.body as { token: string }).token;
    const as = async (method: string, path: string, body?: string): Promise<number> =>
      (
        await raw(cluster.url, {
          method,
          path: `/api/manta/v1/${path}`,
          headers: bearer(token),
          ...(body === undefined ? {} : { body }),
        })
      ).status;
    assert.equal(await as('GET', 'users'), 403);
    assert.equal(await as('POST', 'users', '{"name":"other","admin":true}'), 403);
    assert.equal(await as('DELETE', 'users/owner'), 403);
    assert.equal(await as('POST', 'reload'), 403);
    assert.equal(await as('POST', 'jobs/secretive/stop'), 403);
    assert.equal(await as('DELETE', 'jobs/secretive'), 403);
    assert.equal(
      (await cluster.ask('DELETE', '/api/manta/v1/users/owner')).status,
      409,
      'the last administrator stays',
    );
  });
});

/** A zip with entries that climb out; made by hand, because the writer refuses such names. */
async function evilZip(): Promise<Buffer> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from('out'), 'aa/aa/aa/escaped.txt', { compress: false });
  zip.end();
  const pieces: Buffer[] = [];
  for await (const piece of zip.outputStream) pieces.push(piece as Buffer);
  const bytes = Buffer.concat(pieces).toString('latin1');
  return Buffer.from(bytes.replaceAll('aa/aa/aa/', '../../../'), 'latin1');
}

/** Bytes that are no HTTP; whatever comes back, the server lives on. */
async function rubbish(url: string): Promise<void> {
  const { port } = new URL(url);
  for (const bytes of [
    '\0\0\0\0',
    'GET / HTTP/9.9\r\n\r\n',
    'POST /api/jobs/ HTTP/1.1\r\nhost: localhost\r\ncontent-length: -5\r\n\r\n',
  ]) {
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.end(bytes));
      socket.on('data', () => {});
      socket.on('error', () => {});
      socket.on('close', () => resolve());
    });
  }
}
