// needs: ray-client

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { clusterHost } from '../../../src/client/cluster-host.ts';
import { until } from '../../contract/waiting.ts';
import { rayPython, runPython } from '../../jobs/ray-python.ts';
import { GatewayBed, rayToken } from './bed.ts';

test('what is not Manta’s goes to Ray, with Ray’s token in place of the client’s credentials', async (t) => {
  const bed = await GatewayBed.open(t);
  const asked = await bed.ask('//api/./v0/%6Eodes?limit=5&filter=%2F..', {
    headers: {
      'x-ray-authorization': `Bearer ${bed.owner}`,
      cookie: `ray-authentication-token=${bed.owner}; manta-Bed_1=${bed.owner}`,
      'user-agent': 'python-requests/2',
      'x-forwarded-for': '10.0.0.1',
      forwarded: 'for=10.0.0.1',
      te: 'trailers',
      accept: 'application/json',
    },
  });
  assert.deepEqual([asked.status, asked.text], [200, 'ray says /api/v0/nodes?limit=5&filter=%2F..']);
  const [reached] = bed.ray.reached;
  assert.equal(bed.ray.reached.length, 1);
  assert.deepEqual(Object.keys(reached?.headers ?? {}).sort(), [
    'accept',
    'authorization',
    'connection',
    'host',
    'user-agent',
  ]);
  assert.equal(reached?.headers.authorization, `Bearer ${rayToken}`);
  assert.equal(reached?.headers.connection, 'close', 'no connection carries requests of two clients');
  assert.equal(reached?.headers['user-agent'], 'python-requests/2');
  assert.ok(!JSON.stringify(reached).includes(bed.owner));
});

test('nobody gets through without a token of the cluster; Ray’s own is none', async (t) => {
  const bed = await GatewayBed.open(t);
  for (const [as, status] of [
    [null, 401],
    ['wrong', 403],
    [rayToken, 403],
  ] as const)
    for (const path of ['/nodes', '/api/v0/nodes', '/api/serve/applications/', '/static', '/api/unknown'])
      assert.equal((await bed.ask(path, { as })).status, status, `${path} with ${as}`);
  assert.equal((await bed.ask('/nodes', { headers: { host: 'evil.example' } })).status, 403);
  const { status } = await bed.ask('/nodes', { method: 'POST', headers: { origin: 'http://evil.example' } });
  assert.equal(status, 405, 'a browser may change nothing of Ray’s, as in Ray');
  assert.equal(bed.ray.reached.length, 0);
});

test('the page of Ray and its files are open, as in Ray, and carry no token of anybody', async (t) => {
  const bed = await GatewayBed.open(t);
  for (const path of ['/', '/favicon.ico', '/static/js/main.js'])
    assert.equal((await bed.ask(path, { as: null })).status, 200, path);
  for (const { headers } of bed.ray.reached) assert.equal(headers.authorization, undefined);
  // A dot segment makes no other path of it.
  assert.equal((await bed.ask('/static/../api/v0/nodes', { as: null })).status, 401);
  assert.equal((await bed.ask('/static/%2e%2e/api/v0/nodes', { as: null })).status, 401);
});

test('the jobs API is answered by the queue, however its path is spelled', async (t) => {
  const bed = await GatewayBed.open(t);
  await bed.bed.queue.submit({ id: 'mine', user: 'owner', entrypoint: 'true' });
  for (const path of [
    '/api/jobs/mine',
    '//api//jobs/mine',
    '/api/x/../jobs/mine',
    '/%61pi/jobs/min%65',
    '/manta/api/jobs/mine',
  ]) {
    const { status, text } = await bed.ask(path);
    assert.equal(status, 200, path);
    assert.equal((JSON.parse(text) as { submission_id: string }).submission_id, 'mine', path);
  }
  for (const path of ['/API/jobs/mine', '/api/Jobs/mine', '/api/jobs', '/api/packages/x'])
    assert.equal((await bed.ask(path)).status, 404, path);
  for (const path of ['/api%2Fjobs/mine', '/api\\jobs\\mine', '/api/jobs/%5c..'])
    assert.equal((await bed.ask(path)).status, 400, path);
  assert.equal(bed.ray.reached.length, 0);
});

test('Manta’s page stands at /manta/ beside Ray’s, and at both places where there is no Ray', async (t) => {
  const bed = await GatewayBed.open(t);
  assert.match((await bed.ask('/', { as: null })).text, /^ray says/);
  assert.match((await bed.ask('/manta/', { as: null })).text, /<!doctype html>/i);
  const moved = await bed.ask('/manta', { as: null });
  assert.deepEqual([moved.status, moved.headers.location], [308, '/manta/']);
  assert.equal((await bed.ask('/manta/healthz', { as: null })).text, 'success');
  assert.equal((await bed.ask('/manta/api/manta/v1/jobs', { as: null })).status, 401);
  assert.equal((await bed.ask('/manta/api/manta/v1/jobs')).status, 200);

  const alone = await GatewayBed.open(t, { ray: false });
  for (const path of ['/', '/manta/']) assert.match((await alone.ask(path, { as: null })).text, /<!doctype html>/i);
  assert.equal((await alone.ask('/nodes')).status, 404);
});

test('a link signs in at either page, and the cookie opens both', async (t) => {
  const bed = await GatewayBed.open(t);
  for (const page of ['/', '/manta/']) {
    const ticket = bed.bed.users.makeTicket('owner');
    const { status, headers } = await bed.ask(`${page}?ticket=${encodeURIComponent(ticket)}`, { as: null });
    assert.deepEqual([status, headers.location], [303, './']);
    const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    assert.equal((await bed.ask('/nodes', { as: null, headers: { cookie } })).status, 200);
    assert.equal((await bed.ask('/manta/api/manta/v1/jobs', { as: null, headers: { cookie } })).status, 200);
  }
});

test('what changes or does something in Ray is for administrators', async (t) => {
  const bed = await GatewayBed.open(t);
  const acting: readonly (readonly [string, string])[] = [
    ['PUT', '/api/serve/applications/'],
    ['DELETE', '/api/serve/applications/'],
    ['POST', '/api/v1/applications/a/deployments/b/scale'],
    ['POST', '/report_events'],
    ['POST', '/nodes'],
    ['GET', '/worker/cpu_profile?pid=1'],
    ['GET', '/worker/traceback?pid=1'],
    ['GET', '/task/traceback?task_id=1'],
    ['GET', '/memory_profile?pid=1'],
    ['GET', '/api/v0/logs/file?filename=job-driver-x.log'],
    ['GET', '/api/v0/runtime_envs'],
    ['GET', '/api/v0/jobs'],
    ['GET', '/api/v0/cluster_events'],
    ['GET', '/api/v0/tasks/timeline'],
    ['GET', '/events'],
    ['GET', '/api/serve/applications/'],
    ['GET', '/api/train/v2/runs'],
    ['GET', '/api/v0/something_new'],
  ];
  for (const [method, path] of acting) {
    const refused = await bed.ask(path, { method, as: bed.guest });
    assert.equal(refused.status, 403, `${method} ${path}`);
    assert.equal(refused.headers['manta-error'], 'MANTA_API_ADMIN_ONLY');
  }
  assert.equal(bed.ray.reached.length, 0);
  for (const [method, path] of acting) assert.equal((await bed.ask(path, { method })).status, 200, `${method} ${path}`);
  assert.equal(bed.ray.reached.length, acting.length);
  assert.equal((await bed.ask('/api/v0/nodes?detail=1', { as: bed.guest })).status, 200);
  assert.match(bed.ray.reached.at(-1)?.headers['user-agent'] ?? '', /^Mozilla/, 'Ray masks for browsers');
});

test('what a job of another was given or has said is blank where it stands among other things', async (t) => {
  const bed = await GatewayBed.open(t);
  const secret = { deep: 'SECRET' };
  const rows = [
    ['/api/v0/tasks?detail=1', { task_id: 't', error_type: 'E', error_message: 'SECRET', runtime_env_info: secret }],
    ['/api/v0/tasks', { task_id: 't', profiling_data: secret }],
    ['/api/v0/actors?detail=True', { actor_id: 'a', death_cause: secret, serialized_runtime_env: 'SECRET' }],
    ['/api/v0/workers?detail=1', { worker_id: 'w', exit_type: 'E', exit_detail: 'SECRET' }],
    ['/logical/actors', { actorId: 'a', exitDetail: 'SECRET' }],
    ['/logical/actors/a', { actorId: 'a', exitDetail: 'SECRET' }],
    ['/nodes/n', { raylet: { nodeId: 'n' }, actors: { a: { exitDetail: 'SECRET', runtimeEnv: secret } } }],
  ] as const;
  for (const [path, row] of rows) {
    const whole = JSON.stringify({ result: true, data: { result: [row] } });
    bed.ray.answer = (_, response) => void response.setHeader('content-type', 'application/json').end(whole);
    const { status, text, headers } = await bed.ask(path, { as: bed.guest, headers: { 'accept-encoding': 'gzip' } });
    assert.equal(status, 200, path);
    assert.doesNotMatch(text, /SECRET/, path);
    assert.deepEqual([Object.keys((JSON.parse(text) as typeof empty).data.result[0] ?? {})], [Object.keys(row)]);
    assert.equal(headers['content-type'], 'application/json');
    assert.equal(bed.ray.reached.at(-1)?.headers['accept-encoding'], 'identity');
    assert.equal((await bed.ask(path)).text, whole, 'an administrator sees it as it is');
  }
  for (const answer of ['SECRET', '{"data": NaN, "error_message": "SECRET"}']) {
    bed.ray.answer = (_, response) => void response.end(answer);
    const { status, text } = await bed.ask('/api/v0/tasks', { as: bed.guest });
    assert.equal(status, 502);
    assert.doesNotMatch(text, /SECRET/, 'what cannot be read is not handed on');
  }
});
const empty = { data: { result: [] as object[] } };

test('Ray’s token and cookies reach nobody, and its files cannot act as the page', async (t) => {
  const bed = await GatewayBed.open(t);
  bed.ray.answer = (_, response) => {
    response.setHeader('set-cookie', `ray-authentication-token=${rayToken}`);
    response.setHeader('x-hop', 'one');
    response.setHeader('connection', 'x-hop, close');
    response.setHeader('etag', '"1"');
    response.end('<svg/>');
  };
  const { headers, text } = await bed.ask('/worker/cpu_profile');
  assert.equal(text, '<svg/>');
  assert.deepEqual([headers['set-cookie'], headers['x-hop'], headers.etag], [undefined, undefined, '"1"']);
  assert.match(String(headers['content-security-policy']), /^sandbox/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.ok(!JSON.stringify(headers).includes(rayToken));
});

test('a Ray that does not answer is a 502 with a code, and the jobs API goes on', async (t) => {
  const bed = await GatewayBed.open(t);
  bed.ray.close();
  const { status, headers, text } = await bed.ask('/nodes');
  assert.deepEqual([status, headers['manta-error'], headers['retry-after']], [502, 'MANTA_GATEWAY_NO_ANSWER', '1']);
  assert.match(text, /is not responding/);
  assert.equal(bed.looks.count, 1, 'it may have moved');
  assert.equal((await bed.ask('/api/jobs/')).text, '[]');
});

test('a Ray that does not take mantad’s token is not told on as if the client’s were wrong', async (t) => {
  const bed = await GatewayBed.open(t);
  for (const status of [401, 403]) {
    bed.ray.answer = (_, response) => response.writeHead(status).end('Forbidden');
    const { status: told, headers } = await bed.ask('/nodes');
    assert.deepEqual([told, headers['manta-error']], [502, 'MANTA_GATEWAY_TOKEN_REFUSED']);
  }
});

test('an answer that breaks off is no whole one', async (t) => {
  const bed = await GatewayBed.open(t);
  bed.ray.answer = (_, response) => {
    response.write('half of ');
    setImmediate(() => response.destroy());
  };
  await assert.rejects(bed.ask('/nodes'), /aborted|reset/i);
});

test('bodies go both ways as they come', async (t) => {
  const bed = await GatewayBed.open(t);
  let finish = (): void => {};
  bed.ray.answer = (asked, response) => {
    asked.once('data', () => response.write('got the first'));
    finish = () => response.end(', and the last');
  };
  const answer = await new Promise<string>((resolve, reject) => {
    const sent = request({
      port: bed.port,
      host: '127.0.0.1',
      path: '/api/serve/applications/',
      method: 'PUT',
      headers: { authorization: `Bearer ${bed.owner}` },
    });
    sent.on('error', reject);
    // The answer has begun while the body has not ended.
    sent.on('response', (response) => {
      let said = '';
      response.on('data', (bytes: Buffer) => {
        said += bytes.toString();
        if (said === 'got the first') sent.end('two');
      });
      response.on('end', () => resolve(said));
    });
    sent.write('one');
    void until('both parts are there', () => bed.ray.reached[0]?.body === 'onetwo').then(() => finish());
  });
  assert.equal(answer, 'got the first, and the last');
});

test('a client that goes away takes its request from Ray', async (t) => {
  const bed = await GatewayBed.open(t);
  bed.ray.answer = (_, response) => void response.write('a stream');
  const answer = await bed.send('/api/v0/logs/stream');
  answer.destroy();
  await until('Ray is rid of it', () => bed.ray.reached[0]?.over);
});

test('a revoked user’s open stream ends', async (t) => {
  const bed = await GatewayBed.open(t);
  bed.ray.answer = (_, response) => void response.write('a stream');
  const answer = await bed.send('/nodes', { as: bed.guest });
  answer.on('error', () => {});
  await bed.bed.users.revoke('guest');
  answer.resume();
  await until('it is cut', () => answer.destroyed);
});

test('a body has a limit, whether its length is told or not', async (t) => {
  const bed = await GatewayBed.open(t);
  bed.ray.answer = (asked) => void asked.resume();
  const told = await bed.raw(
    `PUT /api/serve/applications/ HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${bed.owner}\r\ncontent-length: 200000000\r\n\r\n`,
  );
  assert.match(told, /^HTTP\/1\.1 413 /);
  assert.equal(bed.ray.reached.length, 0);
  const piece = Buffer.alloc(1 << 20, 'x');
  const status = await new Promise<number | undefined>((resolve) => {
    const sent = request({
      port: bed.port,
      host: '127.0.0.1',
      path: '/api/serve/applications/',
      method: 'PUT',
      headers: { authorization: `Bearer ${bed.owner}` },
    });
    let left = 120;
    const more = (): void => {
      if (left-- > 0) sent.write(piece, () => setImmediate(more));
    };
    sent.on('response', (response) => resolve(response.statusCode));
    sent.on('error', () => resolve(undefined));
    more();
  });
  assert.ok(status === 413 || status === undefined, `${status}`);
  await until('Ray is rid of it', () => bed.ray.reached[0]?.over);
});

test('the socket in the state folder leads to the same, for this user alone', async (t) => {
  const bed = await GatewayBed.open(t);
  const socketPath = bed.serving.socket as string;
  assert.equal(statSync(socketPath).mode & 0o777, 0o600);
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { host: 'localhost', authorization: `Bearer ${bed.owner}` };
    request({ socketPath, path: '/nodes', headers }, (answer) => resolve(answer.statusCode))
      .on('error', reject)
      .end();
  });
  assert.equal(status, 200);
});

test('a cluster answers under its own name below localhost, and under no other', async (t) => {
  const bed = await GatewayBed.open(t);
  const host = `${clusterHost('Bed_1')}:${bed.port}`;
  assert.match(host, /^bed-1-[0-9a-f]{8}\.localhost:/);
  assert.equal((await bed.ask('/nodes', { headers: { host } })).status, 200);
  assert.equal((await bed.ask('/nodes', { headers: { host: 'other.localhost' } })).status, 403);
});

test('jobs that were submitted to Ray itself are in the list, as none of Manta’s', async (t) => {
  const bed = await GatewayBed.open(t);
  await bed.bed.queue.submit({ id: 'mine', user: 'owner', entrypoint: 'true' });
  bed.others.push({
    type: 'SUBMISSION',
    job_id: null,
    submission_id: 'raysubmit_theirs',
    status: 'FAILED',
    entrypoint: 'python theirs.py',
    message: 'Job entrypoint command failed with exit code 1, last available logs (truncated to 20,000 chars):\nsecret',
    metadata: null,
    ...{ runtime_env: { env_vars: { KEY: 'hunter2' } } },
  });
  const { text } = await bed.ask('/api/jobs/', { as: bed.guest });
  const jobs = JSON.parse(text) as { submission_id: string; metadata: Record<string, string> }[];
  assert.deepEqual(
    jobs.map(({ submission_id, metadata }) => [submission_id, metadata['submitted_to']]),
    [
      ['mine', undefined],
      ['raysubmit_theirs', 'ray'],
    ],
  );
  assert.doesNotMatch(text, /hunter2|secret/);

  const own = JSON.parse((await bed.ask('/api/manta/v1/jobs?others=1', { as: bed.guest })).text) as {
    jobs: { id: string }[];
    others: unknown[];
  };
  assert.deepEqual(
    own.jobs.map(({ id }) => id),
    ['mine'],
  );
  assert.deepEqual(own.others, [
    { id: 'raysubmit_theirs', submittedTo: 'ray', state: 'failed', entrypoint: 'python theirs.py' },
  ]);

  for (const path of ['', '/logs', '/stop'])
    await bed.ask(`/api/jobs/raysubmit_theirs${path}`, { method: path === '/stop' ? 'POST' : 'GET' });
  assert.deepEqual(
    bed.ray.reached.map(({ method, url }) => `${method} ${url}`),
    ['', '/logs', '/stop'].map((path) => `${path === '/stop' ? 'POST' : 'GET'} /api/jobs/raysubmit_theirs${path}`),
  );
  assert.equal((await bed.ask('/api/jobs/raysubmit_theirs', { as: bed.guest })).status, 404);
  assert.equal((await bed.ask('/api/jobs/nobodys')).status, 404);
  assert.equal(bed.ray.reached.length, 3, 'what Ray does not list is not asked of it');
});

test('the log that Ray keeps of an attempt is found by the job, under the name that the attempt has at Ray', async (t) => {
  const bed = await GatewayBed.open(t);
  for (const id of ['mine', 'named']) await bed.bed.queue.submit({ id, user: 'owner', entrypoint: 'true' });
  await until('they run', () => bed.bed.store.counts().running === 2);
  bed.runner.learn('named.1', { submission: 'named-2' });
  await until('its name is known', () => bed.bed.queue.get('named')?.attempts.at(-1)?.submission);
  for (const [id, attempt] of [
    ['mine', 'mine.1'],
    ['named', 'named-2'],
    ['theirs', 'theirs'],
  ]) {
    bed.ray.reached.length = 0;
    await bed.ask(`/api/v0/logs/file?node_id=n&filename=job-driver-${id}.log&lines=10`);
    await bed.ask(`/api/v0/logs/stream?submission_id=${id}`);
    assert.deepEqual(
      bed.ray.reached.map(({ url }) => url),
      [
        `/api/v0/logs/file?node_id=n&filename=job-driver-${attempt}.log&lines=10`,
        `/api/v0/logs/stream?submission_id=${attempt}`,
      ],
    );
  }
});

test('a GET with a body is judged by its token, and its body means nothing', async (t) => {
  const bed = await GatewayBed.open(t);
  const body = JSON.stringify({ some: 'thing' });
  for (const headers of [{ 'content-length': String(body.length) }, { 'transfer-encoding': 'chunked' }])
    for (const path of ['/api/jobs/', '/nodes']) {
      const status = async (as: string | null): Promise<number> =>
        (await bed.ask(path, { method: 'GET', headers, body, as })).status;
      assert.deepEqual([await status(null), await status('wrong'), await status(bed.owner)], [401, 403, 200], path);
    }
  assert.equal(bed.ray.reached.length, 2);
  for (const { headers, body: sent } of bed.ray.reached) {
    assert.equal(headers['content-length'] ?? headers['transfer-encoding'], undefined);
    assert.equal(sent.length, 0);
  }
});

test('a GET whose body has no end is cut off', async (t) => {
  const bed = await GatewayBed.open(t);
  const line = connect(bed.port, '127.0.0.1');
  // Cut off while it writes, it may hear of that as an error.
  line.on('error', () => {});
  const closed = new Promise((resolve) => line.once('close', resolve));
  line.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n');
  line.resume();
  const more = setInterval(() => line.writable && line.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`), 1);
  t.after(() => clearInterval(more));
  await closed;
});

test('the version is that of the Ray that runs, and without one of the Ray whose API is spoken', async (t) => {
  const newest = rayPython();
  if ('missing' in newest) throw new Error(newest.missing);
  const commit = runPython(newest.python, 'import ray; print(ray.__version__, ray.__commit__)');
  for (const [ray, expected] of [
    [true, '2.60.0 c0ffee'],
    [false, commit],
  ] as const) {
    const bed = await GatewayBed.open(t, { ray });
    const { ray_version, ray_commit } = JSON.parse((await bed.ask('/api/version')).text) as Record<string, string>;
    assert.equal(`${ray_version} ${ray_commit}`, expected);
  }
});
