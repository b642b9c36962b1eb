// needs: openssl
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { openFront } from '../client/front.ts';
import { type ApiBed, makeApiBed } from '../jobs/api-bed.ts';
import { ShellRunner } from '../jobs/shell-runner.ts';
import { type Ran, runManta } from './job-bed.ts';

const runner = new ShellRunner(4);
let bed: ApiBed;
before(async () => {
  bed = await makeApiBed({ runner, types: [{ name: 'box', resources: { CPU: 4 }, labels: {}, atMost: 1 }] });
});
after(async () => {
  await bed.remove();
  runner.close();
});

const at = (address: string, words: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  runManta(['job', ...words], { env: { RAY_ADDRESS: address, RAY_AUTH_TOKEN: bed.token, ...env } });

describe('a head that cannot be reached', () => {
  test('is told in one line with what to look at, and exit 6', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    probe.close();
    await once(probe, 'close');
    const ran = await at(`127.0.0.1:${port}`, ['list']);
    assert.equal(ran.exit, 6);
    assert.match(
      ran.stderr,
      /^error: cannot connect to http:\/\/127\.0\.0\.1:\d+: connection refused \(ECONNREFUSED\) \(MANTA_CLIENT_UNREACHABLE\)\nhint: /,
    );
  });

  test('a port that speaks no HTTP is told apart', async (t) => {
    const odd = createServer((socket) => socket.end('I am no web server\n')).listen(0, '127.0.0.1');
    t.after(() => odd.close());
    await once(odd, 'listening');
    const ran = await at(`http://127.0.0.1:${(odd.address() as AddressInfo).port}`, ['list']);
    assert.equal(ran.exit, 6);
    assert.doesNotMatch(ran.stderr, /MANTA_INTERNAL/);
  });

  for (const [what, isManta, text] of [
    ['a value', true, '{"hello": "world"}'],
    ['a page', true, '<html>welcome</html>'],
    ['a value for Ray', false, '{"hello": "world"}'],
  ] as const)
    test(`a server that answers as neither Manta nor Ray is no head: ${what}`, async (t) => {
      const other = createHttp((request, response) => {
        response.statusCode = !isManta && request.url?.startsWith('/api/manta') ? 404 : 200;
        response.end(text);
      }).listen(0, '127.0.0.1');
      t.after(() => other.close());
      await once(other, 'listening');
      const ran = await at(`http://127.0.0.1:${(other.address() as AddressInfo).port}`, ['list']);
      assert.equal(ran.exit, 2);
      assert.match(ran.stderr, /MANTA_CLIENT_NO_HEAD/);
    });

  test('a certificate that nobody vouches for is refused, and accepted with --verify false', async (t) => {
    const { key, cert } = selfSigned(t);
    const secure = createHttps({ key, cert }, (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end('{"jobs":[],"total":0}');
    }).listen(0, '127.0.0.1');
    t.after(() => secure.close());
    await once(secure, 'listening');
    const address = `https://127.0.0.1:${(secure.address() as AddressInfo).port}`;
    const refused = await at(address, ['list']);
    assert.equal(refused.exit, 6);
    assert.match(refused.stderr, /certificate/);
    assert.equal((await at(address, ['list', '--verify', 'false'])).stdout, 'no jobs\n');
    assert.match((await at(address, ['list', '--verify', '/no/such/file'])).stderr, /MANTA_CLIENT_BAD_CERTIFICATES/);
  });
});

test('a submission and its output go over one connection', async (t) => {
  const front = await openFront({ port: bed.port });
  t.after(() => front.close());
  assert.equal((await at(front.address, ['submit', '--', 'echo', 'hi'])).stdout, 'hi\n');
  assert.equal(front.connections, 1);
});

describe('a token', () => {
  test('that is missing or wrong is told as such, without showing it', async () => {
    const missing = await runManta(['job', 'list'], { env: { RAY_ADDRESS: bed.address } });
    assert.equal(missing.exit, 4);
    assert.match(missing.stderr, /requires a token and none was found/);
    const wrong = await at(bed.address, ['list', '--verbose'], { RAY_AUTH_TOKEN: 'not-the-right-token' });
    assert.equal(wrong.exit, 4);
    assert.match(wrong.stderr, /does not accept this token \(invalid token.*\)/);
    assert.doesNotMatch(wrong.stderr, /not-the-right-token/);
  });

  test('in --headers goes in place of any other', async () => {
    const headers = JSON.stringify({ Authorization: `Bearer ${bed.token}` });
    assert.equal((await at(bed.address, ['list', '--headers', headers], { RAY_AUTH_TOKEN: 'wrong' })).exit, 0);
  });
});

describe('a Ray head without Manta', () => {
  test('takes submit, list, status, logs, stop and delete', async (t) => {
    const front = await openFront({ port: bed.port, hideManta: true });
    t.after(() => front.close());
    const job = (...words: string[]): Promise<Ran> => at(front.address, words);
    const ran = await job(
      'submit',
      '--submission-id',
      'r1',
      '--entrypoint-num-cpus',
      '1',
      '--',
      'sh',
      '-c',
      'echo out; exit 3',
    );
    assert.equal(ran.stdout, 'out\n', ran.stderr);
    assert.equal(ran.exit, 3);
    assert.match((await job('list')).stdout, /r1 +failed/);
    assert.match((await job('status', 'r1')).stdout, /^Job 'r1' failed/);
    assert.equal((await job('logs', 'r1')).stdout, 'out\n');
    assert.equal((await job('logs', '-f', '--tail', '1', 'r1')).stdout, 'out\n');
    assert.equal((await job('wait', 'r1')).exit, 3);
    await job('submit', '--no-wait', '--submission-id', 'r2', '--', 'sleep', '30');
    const again = await job('submit', '--no-wait', '--submission-id', 'r2', '--', 'sleep', '30');
    assert.match(again.stderr, /already exists/);
    assert.match((await job('stop', 'r2')).stdout, /was stopped/);
    assert.equal((await job('delete', 'r2')).exit, 0);
    assert.match((await job('status', 'r2')).stderr, /does not exist/);
    assert.ok(
      front.requests.every(
        (each) => !each.includes('/api/manta/') || each.startsWith('GET /api/manta/v1/jobs?limit=1'),
      ),
    );
  });

  test('refuses what it has no word for instead of dropping it', async (t) => {
    const front = await openFront({ port: bed.port, hideManta: true });
    t.after(() => front.close());
    for (const words of [
      ['submit', '--time-limit', '5m', '--', 'true'],
      ['retry', 'r1'],
      ['logs', '--since', '1h', 'r1'],
    ]) {
      const ran = await at(front.address, words);
      assert.equal(ran.exit, 2, ran.stderr);
      assert.match(ran.stderr, /is a Ray head without Manta, which does not support /);
    }
  });

  test('is followed through lines that break, each byte once', async (t) => {
    let cut = 700;
    const front = await openFront({ port: bed.port, hideManta: true, cutAfter: () => (cut += 700) });
    t.after(() => front.close());
    const script =
      'i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo "zeile $i äöü"; [ $((i % 50)) = 0 ] && sleep 0.02; done';
    const ran = await at(front.address, ['submit', '--', script]);
    assert.equal(ran.stdout, Array.from({ length: 300 }, (_, i) => `zeile ${i + 1} äöü\n`).join(''));
    assert.equal(ran.exit, 0, ran.stderr);
    assert.ok(front.cuts > 2, `${front.cuts} cuts`);
  });
});

function selfSigned(t: TestContext): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'manta-tls-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const words = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
    '-days',
    '2',
    '-subj',
    '/CN=127.0.0.1',
  ];
  execFileSync('openssl', words, { stdio: 'ignore' });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

test('a submission whose answer never comes names the job, and how to ask without a second one', async () => {
  let posts = 0;
  const deaf = createHttp((request, response) => {
    if (request.method === 'POST') {
      posts += 1;
      return void request.socket.destroy();
    }
    response.end(JSON.stringify({ jobs: [], total: 0 }));
  }).listen(0, '127.0.0.1');
  await once(deaf, 'listening');
  try {
    const ran = await at(`http://127.0.0.1:${(deaf.address() as AddressInfo).port}`, ['submit', '--', 'true']);
    assert.equal(ran.exit, 6);
    const [, id] = /job '(raysubmit_\w{16})' was sent but the response was lost/.exec(ran.stderr) ?? [];
    assert.match(ran.stderr, new RegExp(`--submission-id ${id}`));
    assert.equal(posts, 4);
  } finally {
    deaf.close();
  }
});
