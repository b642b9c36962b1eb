import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { type Answer, type ApiBed, makeApiBed } from './api-bed.ts';
import { FakeRunner } from './fake-runner.ts';
import { ManualClock } from './manual-clock.ts';

const clock = new ManualClock();
let bed: ApiBed;
before(async () => {
  bed = await makeApiBed({ clock, runner: new FakeRunner(clock) });
});
after(() => bed.remove());

const cookieOf = (answer: Answer): string => answer.headers['set-cookie']?.[0] ?? '';

test('without a token 401, with a wrong one 403, in the words of Ray', async () => {
  const none = await bed.call('GET', '/api/jobs/', { token: null });
  assert.deepEqual([none.status, none.text], [401, 'Unauthorized: Missing authentication token']);
  const wrong = await bed.call('GET', '/api/jobs/', { token: 'x' });
  assert.deepEqual([wrong.status, wrong.text], [403, 'Forbidden: Invalid authentication token']);
  for (const header of [`bearer ${bed.token}`, bed.token, 'Bearer ', `Basic ${bed.token}`]) {
    assert.equal(
      (await bed.call('GET', '/api/version', { token: null, headers: { authorization: header } })).status,
      403,
      header,
    );
  }
  assert.equal(
    (await bed.call('GET', '/api/version', { token: null, headers: { 'x-ray-authorization': `Bearer ${bed.token}` } }))
      .status,
    200,
  );
  assert.equal(
    (
      await bed.call('GET', '/api/version', {
        token: 'proxy',
        headers: { 'x-ray-authorization': `Bearer ${bed.token}` },
      })
    ).status,
    403,
  );
  assert.equal(
    (
      await bed.call('GET', '/api/version', {
        token: null,
        headers: { cookie: `ray-authentication-token=${bed.token}` },
      })
    ).status,
    200,
  );
});

test('only what Ray leaves open, the page and health need no token', async () => {
  for (const path of ['/api/authentication_mode', '/api/gcs_healthz', '/api/healthz', '/-/healthz', '/']) {
    assert.equal((await bed.call('GET', path, { token: null })).status, 200, path);
  }
  for (const path of [
    '/api/version',
    '/api/jobs/',
    '/api/manta/v1/jobs',
    '/api/packages/gcs/a.zip',
    '/nothing',
    '//api/jobs/',
    '/api/healthz/../jobs/',
  ]) {
    assert.equal((await bed.call('GET', path, { token: null })).status, 401, path);
  }
  assert.deepEqual((await bed.call('GET', '/api/authentication_mode', { token: null })).json(), {
    authentication_mode: 'token',
  });
});

test('a request under another host name is refused, whatever its token', async () => {
  for (const host of ['evil.example', 'localhost.evil.example', '169.254.169.254', 'evil.example:80']) {
    assert.equal((await bed.call('GET', '/api/version', { headers: { host } })).status, 403, host);
  }
  for (const host of ['localhost:1234', '127.0.0.1', '[::1]:80', 'LOCALHOST']) {
    assert.equal((await bed.call('GET', '/api/version', { headers: { host } })).status, 200, host);
  }
});

test("browsers cannot change anything on Ray's paths, as in Ray", async () => {
  const marks = [
    { origin: bed.address },
    { referer: bed.address },
    { 'user-agent': 'Mozilla/5.0' },
    { 'sec-fetch-mode': 'cors' },
    { 'sec-fetch-site': 'same-origin' },
  ];
  for (const headers of marks as Record<string, string>[]) {
    for (const [method, path] of [
      ['POST', '/api/jobs/'],
      ['PUT', '/api/packages/gcs/a.zip'],
      ['DELETE', '/api/jobs/x'],
      ['POST', '/api/jobs/x/stop'],
    ] as const) {
      const answer = await bed.call(method, path, { headers, ...(method === 'DELETE' ? {} : { body: '{}' }) });
      assert.deepEqual([answer.status, answer.text], [405, `'${method}' method not allowed for browser traffic.`]);
    }
    assert.equal((await bed.call('GET', '/api/jobs/', { headers })).status, 200);
  }
});

test("on Manta's paths a page of this server may act, one of another may not", async () => {
  const submit = (headers: Record<string, string>) =>
    bed.call('POST', '/api/manta/v1/jobs', { headers, body: { entrypoint: 'true' } });
  assert.equal(
    (await submit({ origin: bed.address, 'sec-fetch-site': 'same-origin', 'user-agent': 'Mozilla/5.0' })).status,
    200,
  );
  assert.equal((await submit({})).status, 200);
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { origin: bed.address, 'sec-fetch-site': 'same-site' },
    { origin: 'http://127.0.0.1:1' },
  ] as Record<string, string>[]) {
    assert.equal((await submit(headers)).status, 403, JSON.stringify(headers));
  }
  const [error] = (await once(
    bed.socket('/api/jobs/x/logs/tail', { headers: { origin: 'https://evil.example' } }),
    'error',
  )) as [Error];
  assert.match(error.message, /403/);
});

test('a token is exchanged for a cookie that scripts cannot read and other sites do not send', async () => {
  assert.equal((await bed.call('POST', '/api/authenticate', { token: null })).status, 401);
  assert.equal((await bed.call('POST', '/api/authenticate', { token: 'wrong' })).status, 403);
  const answer = await bed.call('POST', '/api/authenticate', {
    headers: { origin: bed.address, 'sec-fetch-site': 'same-origin', 'user-agent': 'Mozilla/5.0' },
  });
  assert.equal(answer.status, 200);
  assert.match(
    cookieOf(answer),
    /^manta-session-test=[0-9a-f]{64}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  assert.ok(!cookieOf(answer).includes(bed.token));
  const cookie = cookieOf(answer).split(';')[0] ?? '';
  assert.equal((await bed.call('GET', '/api/manta/v1/jobs', { token: null, headers: { cookie } })).status, 200);
  assert.equal((await bed.call('POST', '/api/manta/v1/tickets', { token: null, headers: { cookie } })).status, 403);
  assert.equal(
    (await bed.call('POST', '/api/manta/v1/tickets', { token: null, headers: { cookie, origin: bed.address } })).status,
    200,
  );
  clock.set(clock.now() + 12 * 3_600_000 + 1);
  assert.equal((await bed.call('GET', '/api/manta/v1/jobs', { token: null, headers: { cookie } })).status, 403);
});

test('a ticket is good once and for a minute', async () => {
  const { ticket } = (await bed.call('POST', '/api/manta/v1/tickets')).json() as { ticket: string };
  const session = await bed.users.redeemTicket(ticket);
  assert.equal(bed.users.byToken(session ?? '')?.name, 'ada');
  assert.equal(await bed.users.redeemTicket(ticket), undefined);
  const late = bed.users.makeTicket('ada');
  clock.set(clock.now() + 61_000);
  assert.equal(await bed.users.redeemTicket(late), undefined);
});

test('of many tickets the newest are good: nobody fills the memory with them', async () => {
  const tickets = Array.from({ length: 30 }, () => bed.users.makeTicket('ada'));
  const others = bed.users.makeTicket('root');
  const good = await Promise.all(tickets.map(async (ticket) => (await bed.users.redeemTicket(ticket)) !== undefined));
  assert.deepEqual(good, [...Array<boolean>(10).fill(false), ...Array<boolean>(20).fill(true)]);
  assert.ok(await bed.users.redeemTicket(others));
});

test('wrong tokens are told to wait when there are too many, and a right one never is', async () => {
  const wrong = (): Promise<Answer> => bed.call('GET', '/api/manta/v1/jobs', { token: 'guess' });
  let answer = await wrong();
  for (let tries = 0; answer.status === 403 && tries < 1_000; tries++) answer = await wrong();
  assert.equal(answer.status, 429);
  assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/);
  assert.equal((answer.json() as { error: { code: string } }).error.code, 'MANTA_API_TOO_MANY_REFUSED');
  assert.equal((await bed.call('POST', '/api/authenticate', { token: 'guess' })).status, 429);
  const [error] = (await once(bed.socket('/api/jobs/x/logs/tail', { token: 'guess' }), 'error')) as [Error];
  assert.match(error.message, /429/);
  assert.equal((await bed.call('GET', '/api/manta/v1/jobs')).status, 200);
  assert.equal((await bed.call('POST', '/api/authenticate')).status, 200);
  assert.equal((await bed.call('GET', '/api/manta/v1/jobs', { token: null })).status, 401);
  clock.set(clock.now() + 1_000);
  assert.equal((await wrong()).status, 403);
  clock.set(clock.now() + 600_000);
});

test('administrators manage users; a revoked user is out at once; tokens survive a restart as hashes only', async () => {
  assert.equal((await bed.call('GET', '/api/manta/v1/users')).status, 403);
  assert.equal((await bed.call('POST', '/api/manta/v1/users', { body: { name: 'eve' } })).status, 403);
  const made = await bed.call('POST', '/api/manta/v1/users', { token: bed.admin, body: { name: 'bob', weight: 2 } });
  const { token } = made.json() as { token: string };
  assert.equal(
    (await bed.call('POST', '/api/manta/v1/users', { token: bed.admin, body: { name: 'bob' } })).status,
    409,
  );
  assert.equal(
    (await bed.call('POST', '/api/manta/v1/users', { token: bed.admin, body: { name: '../x' } })).status,
    400,
  );
  assert.equal(bed.users.weights().get('bob'), 2);
  assert.equal((await bed.call('GET', '/api/version', { token })).status, 200);
  const list = (await bed.call('GET', '/api/manta/v1/users', { token: bed.admin })).text;
  assert.ok(list.includes('"bob"') && !list.includes(token));
  const stored = JSON.stringify(bed.database.sql.prepare('SELECT * FROM tokens').all());
  assert.ok(!stored.includes(token));
  assert.equal((await bed.call('DELETE', '/api/manta/v1/users/bob', { token: bed.admin })).status, 200);
  assert.equal((await bed.call('GET', '/api/version', { token })).status, 403);
  assert.equal((await bed.call('DELETE', '/api/manta/v1/users/root', { token: bed.admin })).status, 409);
  assert.equal((await bed.call('DELETE', '/api/manta/v1/users/nobody', { token: bed.admin })).status, 404);
});

test('whoever is revoked while signing in is refused, and not told of a fault', async () => {
  const token = await bed.tokenOf('eve');
  const cut = bed.users.byToken.bind(bed.users);
  // The revoke comes between the look at the token and the session.
  const revoking: Promise<unknown>[] = [];
  bed.users.byToken = (given) => {
    const user = cut(given);
    if (given === token && revoking.length === 0) revoking.push(bed.users.revoke('eve'));
    return user;
  };
  const answer = await bed.call('POST', '/api/authenticate', { token });
  bed.users.byToken = cut;
  await Promise.all(revoking);
  assert.deepEqual([answer.status, answer.headers['set-cookie']], [403, undefined]);
});

test('bodies, headers and names are bounded', async () => {
  const large = await bed.call('POST', '/api/jobs/', {
    body: { entrypoint: 'x', metadata: { note: 'x'.repeat(3 << 20) } },
  });
  assert.equal(large.status, 413);
  assert.equal(
    (
      await bed.call('POST', '/api/manta/v1/jobs', {
        body: { entrypoint: 'x', metadata: { note: 'x'.repeat(3 << 20) } },
      })
    ).status,
    413,
  );
  assert.equal((await bed.call('GET', `/api/jobs/${'x'.repeat(8_000)}`)).status, 404);
  assert.equal(
    (await bed.call('POST', '/api/manta/v1/jobs', { body: { entrypoint: 'x'.repeat(70_000) } })).status,
    400,
  );
});

test("each refusal on Manta's own paths has a code of its own", async () => {
  const codeOf = async (...call: Parameters<ApiBed['call']>): Promise<[number, string]> => {
    const answer = await bed.call(...call);
    return [answer.status, (answer.json() as { error: { code: string } }).error.code];
  };
  const path = '/api/manta/v1/jobs';
  assert.deepEqual(await codeOf('GET', path, { token: null }), [401, 'MANTA_API_UNAUTHENTICATED']);
  assert.deepEqual(await codeOf('GET', path, { token: 'x' }), [403, 'MANTA_API_DENIED']);
  assert.deepEqual(await codeOf('GET', path, { headers: { host: 'evil.example' } }), [403, 'MANTA_API_UNKNOWN_HOST']);
  assert.deepEqual(await codeOf('POST', path, { headers: { origin: 'http://evil.example' } }), [
    403,
    'MANTA_API_CROSS_SITE',
  ]);
  assert.deepEqual(await codeOf('GET', '/api/manta/v1/users'), [403, 'MANTA_API_ADMIN_ONLY']);
  const body = { entrypoint: 'x', metadata: { note: 'x'.repeat(3 << 20) } };
  assert.deepEqual(await codeOf('POST', path, { body }), [413, 'MANTA_API_TOO_LARGE']);
});
