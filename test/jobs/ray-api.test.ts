import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { gate } from '../contract/gate.ts';
import { patiently } from '../contract/waiting.ts';
import { type ApiBed, makeApiBed } from './api-bed.ts';
import { ShellRunner } from './shell-runner.ts';

const runner = new ShellRunner(4);
let bed: ApiBed;
before(async () => {
  bed = await makeApiBed({
    runner,
    types: [{ name: 'box', resources: { CPU: 4 }, labels: {}, atMost: 1 }],
    packageLimits: { uploadBytes: 1 << 20 },
  });
});
after(async () => {
  await bed.remove();
  runner.close();
});

const submit = async (body: Record<string, unknown>): Promise<string> => {
  const answer = await bed.call('POST', '/api/jobs/', { body });
  assert.equal(answer.status, 200, answer.text);
  return (answer.json() as { submission_id: string }).submission_id;
};
const details = async (id: string, token?: string): Promise<Record<string, unknown>> =>
  (await bed.call('GET', `/api/jobs/${id}`, token === undefined ? {} : { token })).json();
const over = (id: string) => bed.queue.wait(id, patiently());
async function readAll(socket: WebSocket): Promise<{ text: string; code: number }> {
  let text = '';
  socket.on('message', (data) => (text += String(data)));
  const [code] = (await once(socket, 'close')) as [number];
  return { text, code };
}

test('the version is one that Ray’s clients understand', async () => {
  const expected = { version: '4', ray_version: '2.60.0', ray_commit: 'manta', session_name: 'session_test' };
  assert.deepEqual((await bed.call('GET', '/api/version')).json(), expected);
  assert.deepEqual((await bed.call('GET', '/api/ray/version')).json(), expected);
});

test('JobDetails have exactly the keys of Ray', async () => {
  const id = await submit({
    entrypoint: 'echo hi; exit 3',
    metadata: { k: 'v' },
    runtime_env: { env_vars: { A: 'b' } },
    entrypoint_num_cpus: 1,
  });
  assert.match(id, /^job/);
  await over(id);
  const { start_time, end_time, ...rest } = await details(id);
  assert.deepEqual(rest, {
    type: 'SUBMISSION',
    job_id: null,
    submission_id: id,
    driver_info: null,
    status: 'FAILED',
    entrypoint: 'echo hi; exit 3',
    message: 'Job entrypoint command failed with exit code 3, last available logs (truncated to 20,000 chars):\nhi\n',
    error_type: 'JOB_ENTRYPOINT_COMMAND_ERROR',
    metadata: { k: 'v' },
    runtime_env: { env_vars: { A: 'b' } },
    driver_agent_http_address: null,
    driver_node_id: 'this-machine',
    driver_exit_code: 3,
  });
  assert.ok(Number(end_time) >= Number(start_time));
});

test('answers that Ray’s client splats into dataclasses have no other keys', async () => {
  const answer = await bed.call('POST', '/api/jobs/', {
    body: { entrypoint: 'sleep 30', submission_id: 'exact', job_id: null },
  });
  assert.deepEqual(answer.json(), { job_id: 'exact', submission_id: 'exact' });
  assert.deepEqual((await bed.call('POST', '/api/jobs/exact/stop')).json(), { stopped: true });
  await over('exact');
  assert.deepEqual((await bed.call('POST', '/api/jobs/exact/stop')).json(), { stopped: false });
  assert.deepEqual((await bed.call('GET', '/api/jobs/exact/logs')).json(), { logs: '' });
  assert.deepEqual((await bed.call('DELETE', '/api/jobs/exact')).json(), { deleted: true });
  assert.equal((await bed.call('GET', '/api/jobs/exact')).status, 404);
});

test('keys that are not read have no effect, whatever their name, and nobody submits as another', async () => {
  const powers = { user: 'root', priority: 1_000_000 };
  const names = ['constructor', '__proto__', 'toString', 'user', 'nonsense'];
  for (const [at, name] of names.entries()) {
    const body = `{"entrypoint":"true","submission_id":"named-${at}",${JSON.stringify(name)}:${JSON.stringify(powers)}}`;
    const answer = await bed.call('POST', '/api/jobs/', { body });
    assert.equal(answer.status, 200, answer.text);
    const job = bed.queue.get(`named-${at}`);
    assert.deepEqual([job?.user, job?.priority], ['ada', 0], name);
  }
});

test('a body nested deeper than any client nests is refused', async () => {
  const deep = `{"entrypoint":"true","runtime_env":{"env_vars":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`;
  const answer = await bed.call('POST', '/api/jobs/', { body: deep });
  assert.deepEqual([answer.status, /nested/.test(answer.text)], [400, true]);
});

test('refusals have the status and the words of Ray', async () => {
  const post = (body: unknown) => bed.call('POST', '/api/jobs/', { body });
  const empty = await post({});
  assert.equal(empty.status, 400);
  assert.match(empty.headers['content-type'] ?? '', /^text\/plain/);
  assert.match((await post({ entrypoint: 5 })).text, /entrypoint must be a string, got <class 'int'>/);
  assert.match((await post({ entrypoint: 'x', metadata: { a: 1 } })).text, /metadata values must be strings/);
  assert.match((await post({ entrypoint: 'x', entrypoint_memory: 1.5 })).text, /must be an integer/);
  assert.match((await post({ entrypoint: 'x', entrypoint_label_selector: { a: 'in(' } })).text, /label_selector/);
  await submit({ entrypoint: 'true', submission_id: 'twice' });
  const twice = await post({ entrypoint: 'true', submission_id: 'twice' });
  assert.deepEqual([twice.status, /already exists/.test(twice.text)], [500, true]);
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/stop'],
    ['DELETE', ''],
    ['GET', '/logs'],
  ] as const) {
    const missing = await bed.call(method, `/api/jobs/nobody${path}`);
    assert.deepEqual([missing.status, missing.text], [404, 'Job nobody does not exist'], `${method} ${path}`);
  }
  await submit({ entrypoint: 'sleep 30', submission_id: 'alive' });
  const alive = await bed.call('DELETE', '/api/jobs/alive');
  assert.deepEqual([alive.status, /non-terminal state/.test(alive.text)], [500, true]);
  await bed.call('POST', '/api/jobs/alive/stop');
});

test('paths keep Ray’s slashes', async () => {
  assert.equal((await bed.call('GET', '/api/jobs/')).status, 200);
  for (const path of ['/api/jobs', '/api/jobs/x/', '/api/jobs/x/logs/', '/api/version/'])
    assert.equal((await bed.call('GET', path)).status, 404, path);
});

test('difference: a job that no node type can hold is refused at once', async () => {
  const answer = await bed.call('POST', '/api/jobs/', { body: { entrypoint: 'true', entrypoint_num_cpus: 64 } });
  assert.equal(answer.status, 400);
  assert.match(answer.text, /no node type can fit \{CPU: 64\}; the nearest is 'box', which provides CPU 4 of 64/);
});

test('difference: a body that is not JSON is the client’s fault', async () => {
  assert.equal((await bed.call('POST', '/api/jobs/', { body: 'not json' })).status, 400);
});

test('difference: an id that could not be a file name or part of a URL is refused', async () => {
  for (const id of ['a/b', '..', '', 'a b', 'x'.repeat(300)]) {
    assert.equal(
      (await bed.call('POST', '/api/jobs/', { body: { entrypoint: 'true', submission_id: id } })).status,
      400,
      id,
    );
  }
});

test('difference: values of env_vars are masked in listings and for others', async () => {
  const id = await submit({ entrypoint: 'true', runtime_env: { env_vars: { SECRET: 'hunter22' } } });
  const list = (await bed.call('GET', '/api/jobs/')).text;
  assert.ok(list.includes('"SECRET":"***"') && !list.includes('hunter22'));
  assert.deepEqual((await details(id))['runtime_env'], { env_vars: { SECRET: 'hunter22' } });
  const other = await bed.tokenOf('eve');
  assert.deepEqual((await details(id, other))['runtime_env'], { env_vars: { SECRET: '***' } });
});

test('difference: a job of somebody else can be seen, but not stopped, deleted or read', async () => {
  const id = await submit({ entrypoint: 'echo secret; sleep 30' });
  const token = await bed.tokenOf('mallory');
  for (const [method, path] of [
    ['POST', '/stop'],
    ['DELETE', ''],
    ['GET', '/logs'],
  ] as const) {
    assert.equal((await bed.call(method, `/api/jobs/${id}${path}`, { token })).status, 403, path);
  }
  const socket = bed.socket(`/api/jobs/${id}/logs/tail`, { token });
  const [error] = (await once(socket, 'error')) as [Error];
  assert.match(error.message, /403/);
  assert.deepEqual((await bed.call('POST', `/api/jobs/${id}/stop`, { token: bed.admin })).json(), { stopped: true });
});

test('difference: a long message is cut in the listing', async () => {
  const id = await submit({ entrypoint: "head -c 9000 /dev/zero | tr '\\0' x; exit 1" });
  await over(id);
  const listed = ((await bed.call('GET', '/api/jobs/')).json() as { submission_id: string; message: string }[]).find(
    (job) => job.submission_id === id,
  );
  assert.ok(listed && listed.message.length < 2_100);
  assert.ok(String((await details(id))['message']).length > 9_000);
});

test('difference: a quiet tail is kept alive by pings', async () => {
  const id = await submit({ entrypoint: 'sleep 30' });
  const socket = bed.socket(`/api/jobs/${id}/logs/tail`);
  await once(socket, 'ping');
  await once(socket, 'ping');
  await bed.call('POST', `/api/jobs/${id}/stop`);
  assert.deepEqual(await readAll(socket), { text: '', code: 1000 });
});

test('difference: a pending job can be stopped', async () => {
  const blocker = await submit({ entrypoint: 'sleep 30', entrypoint_num_cpus: 4 });
  const id = await submit({ entrypoint: 'true', entrypoint_num_cpus: 4 });
  assert.equal((await details(id))['status'], 'PENDING');
  assert.deepEqual((await bed.call('POST', `/api/jobs/${id}/stop`)).json(), { stopped: true });
  assert.equal((await details(id))['status'], 'STOPPED');
  await bed.call('POST', `/api/jobs/${blocker}/stop`);
});

test('difference: a queue that is full answers 429', async () => {
  const { limits } = bed;
  bed.limits = { ...limits, queued: 0 };
  assert.equal((await bed.call('POST', '/api/jobs/', { body: { entrypoint: 'true' } })).status, 429);
  bed.limits = limits;
});

test('difference: a runtime environment that this cluster cannot give is refused with the field and what is supported', async () => {
  const cases: [Record<string, unknown>, RegExp][] = [
    [
      { image_uri: 'x' },
      /^runtime_env\['image_uri'\] is not supported.*supported: env_vars, working_dir, .*uv, config$/,
    ],
    [{ conda: 'x' }, /^runtime_env\['conda'\] is not supported/],
    [{ toString: 'x' }, /^runtime_env\['toString'\] is not supported/],
    [{ pip: 5 }, /^runtime_env\['pip'\] must be a list of requirements.*not a number$/],
    [{ uv: { packages: ['a'], uv_version: '1' } }, /^runtime_env\['uv'\]\['uv_version'\] is not supported/],
    [{ pip: ['a'], uv: ['a'] }, /cannot be used together/],
    [{ env_vars: { A: 1 } }, /^runtime_env\['env_vars'\].*value of 'A' is not a string/],
    [{ working_dir: './here' }, /^runtime_env\['working_dir'\] '.\/here' is neither a package on the head/],
    [{ working_dir: 'https://' }, /^runtime_env\['working_dir'\]/],
    [{ py_modules: 'x' }, /^runtime_env\['py_modules'\] must be a list/],
    [{ excludes: 'x' }, /^runtime_env\['excludes'\] must be a list/],
  ];
  for (const [runtime_env, words] of cases) {
    const answer = await bed.call('POST', '/api/jobs/', { body: { entrypoint: 'true', runtime_env } });
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.text, words);
  }
});

test('difference: a message quotes the output to its owner and administrators only', async () => {
  const id = await submit({ entrypoint: 'echo the-key-is-1234; exit 3' });
  await over(id);
  const other = await bed.tokenOf('nosy');
  for (const path of ['/api/jobs/', `/api/jobs/${id}`, '/api/manta/v1/jobs', `/api/manta/v1/jobs/${id}`]) {
    // The entrypoint is there for all to see; only its output counts.
    const said = async (token: string): Promise<string> =>
      (await bed.call('GET', path, { token })).text.replaceAll('echo the-key-is-1234', '');
    assert.doesNotMatch(await said(other), /the-key-is|last available logs/, path);
    if (path !== '/api/manta/v1/jobs') {
      assert.match(await said(bed.token), /the-key-is-1234/, path);
      assert.match(await said(bed.admin), /the-key-is-1234/, path);
    }
  }
  assert.equal((await details(id, other))['message'], 'Job entrypoint command failed with exit code 3');
});

test('tail gives output as it comes and closes with 1000 exactly at the end', async (t) => {
  const { wait, open } = gate(t);
  const id = await submit({ entrypoint: `echo first; ${wait}; printf "déjà vu"; exit 4` });
  const socket = bed.socket(`/api/jobs/${id}/logs/tail`);
  const [first] = (await once(socket, 'message')) as [Buffer];
  assert.equal(String(first), 'first\n');
  assert.equal((await details(id))['status'], 'RUNNING');
  const rest = readAll(socket);
  open();
  const { text, code } = await rest;
  assert.deepEqual([text, code], ['déjà vu', 1000]);
  assert.equal((await details(id))['driver_exit_code'], 4);
  assert.deepEqual(await readAll(bed.socket(`/api/jobs/${id}/logs/tail`)), { text: 'first\ndéjà vu', code: 1000 });
});

test('tail of a job that waits begins when it runs, and of one that never runs ends with it', async () => {
  const blocker = await submit({ entrypoint: 'sleep 30', entrypoint_num_cpus: 4 });
  const id = await submit({ entrypoint: 'echo late', entrypoint_num_cpus: 4 });
  const waiting = readAll(bed.socket(`/api/jobs/${id}/logs/tail`));
  const hopeless = await submit({ entrypoint: 'true', entrypoint_num_cpus: 4 });
  const silent = readAll(bed.socket(`/api/jobs/${hopeless}/logs/tail`));
  await bed.call('POST', `/api/jobs/${hopeless}/stop`);
  assert.deepEqual(await silent, { text: '', code: 1000 });
  await bed.call('POST', `/api/jobs/${blocker}/stop`);
  assert.deepEqual(await waiting, { text: 'late\n', code: 1000 });
});

test('a large output arrives byte for byte, over HTTP and over the socket', async () => {
  const id = await submit({ entrypoint: 'i=0; while [ $i -lt 30000 ]; do echo "line $i of many"; i=$((i+1)); done' });
  const expected = Array.from({ length: 30_000 }, (_, i) => `line ${i} of many\n`).join('');
  const { text, code } = await readAll(bed.socket(`/api/jobs/${id}/logs/tail`));
  assert.equal(code, 1000);
  assert.ok(text === expected, `${text.length} of ${expected.length}`);
  await over(id);
  assert.ok(((await bed.call('GET', `/api/jobs/${id}/logs`)).json() as { logs: string }).logs === expected);
});

test('tail is refused before the upgrade where Ray refuses it', async () => {
  for (const [path, status] of [
    ['/api/jobs/nobody/logs/tail', 404],
    ['/api/other', 0],
  ] as const) {
    const [error] = (await once(bed.socket(path), 'error')) as [Error];
    if (status) assert.match(error.message, new RegExp(String(status)));
  }
  const [error] = (await once(bed.socket('/api/jobs/x/logs/tail', { token: 'wrong' }), 'error')) as [Error];
  assert.match(error.message, /403/);
});

test('packages are kept by owner, and only under names that are names', async () => {
  const path = '/api/packages/gcs/_ray_pkg_0011223344556677.zip';
  assert.equal((await bed.call('GET', path)).status, 404);
  assert.deepEqual(
    await bed.call('PUT', path, { body: Buffer.from('notazip') }).then(({ status, text }) => [status, text]),
    [200, ''],
  );
  assert.equal((await bed.call('GET', path)).status, 200);
  assert.equal((await bed.call('GET', path, { token: await bed.tokenOf('other') })).status, 404);
  assert.equal((await bed.call('PUT', '/api/packages/s3/x.zip', { body: 'x' })).status, 500);
  for (const name of ['..%2f..%2fx.zip', 'x.exe', '%2e%2e.zip', 'a%00.zip'])
    assert.equal((await bed.call('PUT', `/api/packages/gcs/${name}`, { body: 'x' })).status, 400, name);
  const large = await bed.call('PUT', '/api/packages/gcs/large.zip', { body: Buffer.alloc((1 << 20) + 1) });
  assert.deepEqual([large.status, large.text], [413, 'Maximum request body size 1048576 exceeded.']);
  const id = await submit({ entrypoint: 'true', runtime_env: { working_dir: 'gcs://_ray_pkg_0011223344556677.zip' } });
  await over(id);
  const { status, error_type, message } = await details(id);
  assert.deepEqual([status, error_type], ['FAILED', 'RUNTIME_ENV_SETUP_FAILURE'], String(message));
});

test('activity says whether somebody still works here', async () => {
  const id = await submit({ entrypoint: 'sleep 30' });
  const { driver } = (await bed.call('GET', '/api/component_activities?timeout=30')).json() as {
    driver: Record<string, unknown>;
  };
  assert.equal(driver['is_active'], 'ACTIVE');
  await bed.call('POST', `/api/jobs/${id}/stop`);
  await over(id);
});

test('a line is with its follower within a moment', async () => {
  const id = await submit({ entrypoint: 'for i in 1 2 3 4 5 6 7 8 9 10; do date +%s%N; sleep 0.1; done' });
  const socket = bed.socket(`/api/jobs/${id}/logs/tail`);
  const delays: number[] = [];
  socket.on('message', (data) => {
    for (const line of String(data).trim().split('\n')) delays.push(Date.now() - Number(line) / 1e6);
  });
  await once(socket, 'close');
  await sleep(1);
  assert.equal(delays.length, 10);
});
