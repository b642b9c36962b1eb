// needs: sshd

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { MantaError } from '../../src/base/errors.ts';
import type { Host } from '../../src/base/host.ts';
import { shellQuoted } from '../../src/base/shell/shell-quote.ts';
import { sshErrors } from '../../src/base/ssh/errors.ts';
import { sshHost } from '../../src/base/ssh/host.ts';
import { thisHost } from '../../src/base/this-host.ts';
import { never as signal, until } from '../contract/waiting.ts';
import { freePort, missing, startSshd } from './test-sshd.ts';

const skip = missing() ?? false;
const sh = async (host: Host, program: string): Promise<string> => (await host.sh(program, { signal })).stdout;
const is = (kind: { is(value: unknown): boolean }) => (error: unknown) => {
  assert.ok(kind.is(error), String(error));
  return true;
};

suite('a host over SSH', { skip }, () => {
  test('a program gives its output, its errors apart, and its own exit code', async (t) => {
    const host = sshHost((await startSshd(t)).target());
    for (const code of [0, 7, 255])
      assert.deepEqual(await host.sh(`echo out; echo err >&2; exit ${code}`, { signal }), {
        code,
        stdout: 'out\n',
        stderr: 'err\n',
      });
    assert.deepEqual(await host.sh('printf "no end"; cat', { signal }), { code: 0, stdout: 'no end', stderr: '' });
    const broken = await host.sh('echo before; ) (', { signal });
    assert.notEqual(broken.code, 0);
    assert.match(broken.stderr, /syntax error/i);
  });

  test('a program stands in no process table, and is over though something it left holds its output', async (t) => {
    const host = sshHost((await startSshd(t)).target());
    const found = await sh(host, 'secret=hidden-word-7; cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" "\\n"');
    assert.doesNotMatch(found, /hidden-word-7/);
    assert.equal(await sh(host, 'sleep 1000 & echo done'), 'done\n');
  });

  test('what the start-up files of a shell say is no output', async (t) => {
    const sshd = await startSshd(t);
    writeFileSync(join(sshd.home, '.bashrc'), 'echo Welcome; echo Trouble >&2\n');
    assert.deepEqual(await sshHost(sshd.target()).sh('echo out', { signal }), { code: 0, stdout: 'out\n', stderr: '' });
  });

  test('ten megabytes come whole, as they are', async (t) => {
    const host = sshHost((await startSshd(t)).target());
    const pieces: Uint8Array[] = [];
    const program = 'head -c 10000000 /dev/zero | tr "\\0" "\\377"; printf end';
    const result = await host.sh(program, { signal, onStdout: (bytes) => void pieces.push(bytes) });
    assert.deepEqual(result, { code: 0, stdout: '', stderr: '' });
    const whole = Buffer.concat(pieces);
    assert.ok(whole.equals(Buffer.concat([Buffer.alloc(10_000_000, 255), Buffer.from('end')])));
  });

  test('an aborted run ends with the reason, one that takes too long with an error', async (t) => {
    const host = sshHost((await startSshd(t)).target());
    await host.sh(':', { signal });
    const stop = new AbortController();
    const running = host.sh('echo begun; sleep 1000', {
      signal: stop.signal,
      onStdout: () => stop.abort(new Error('enough')),
    });
    await assert.rejects(running, /enough/);
    // Long enough for a busy machine to begin it.
    await assert.rejects(host.sh('sleep 1000', { signal, within: 3_000 }), is(sshErrors.TooLong));
    assert.equal(await sh(host, 'echo still'), 'still\n');
  });

  for (const where of ['over SSH', 'on this machine'])
    test(`a file is written whole, with its mode, or not at all: ${where}`, async (t) => {
      const sshd = await startSshd(t);
      const host = where === 'over SSH' ? sshHost(sshd.target()) : thisHost();
      const content = Buffer.from(Array.from({ length: 70_000 }, (_, at) => (at * 7) % 256));
      const path = join(sshd.folder, "new folder/it's a file");
      await host.put(path, content, 0o640, { signal });
      assert.ok(readFileSync(path).equals(content));
      assert.equal(statSync(path).mode & 0o777, 0o640);
      await host.put(path, Buffer.alloc(0), 0o600, { signal });
      assert.equal(statSync(path).size, 0);
      const failed = host.put(join(path, 'below a file'), content, 0o600, { signal });
      await assert.rejects(failed, is(sshErrors.NotWritten));
      assert.deepEqual(readdirSync(join(sshd.folder, 'new folder')), ["it's a file"]);
    });

  test('a path from home leads to the home of the user there', async (t) => {
    const sshd = await startSshd(t);
    await sshHost(sshd.target()).put('~/.manta/nodes/x', Buffer.from('1'), 0o600, { signal });
    assert.equal(readFileSync(join(sshd.home, '.manta/nodes/x'), 'utf8'), '1');
  });

  test('more programs at once than sshd allows sessions, of two processes, all come out', async (t) => {
    const sshd = await startSshd(t);
    const hosts = [sshHost(sshd.target()), sshHost(sshd.target())];
    const answers = hosts.flatMap((host, at) =>
      Array.from({ length: 12 }, (_, number) => sh(host, `sleep 0.1; echo ${at}-${number}`)),
    );
    const expected = hosts.flatMap((_, at) => Array.from({ length: 12 }, (_, number) => `${at}-${number}\n`));
    assert.deepEqual(await Promise.all(answers), expected);
  });

  test('two processes that connect at once both succeed', async (t) => {
    const sshd = await startSshd(t);
    const module = new URL('../../src/base/ssh/host.ts', import.meta.url).href;
    const text = `const { sshHost } = await import(${JSON.stringify(module)});
      const host = sshHost(${JSON.stringify(sshd.target())});
      const { stdout } = await host.sh('echo hello', { signal: new AbortController().signal });
      process.stdout.write(stdout);`;
    const outputs = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let said = '';
        child.stdout.on('data', (piece: Buffer) => {
          said += String(piece);
        });
        await once(child, 'close');
        return said;
      }),
    );
    assert.deepEqual(outputs, Array(4).fill('hello\n'));
  });

  test('a master that was killed is replaced, and one that stands is used again', async (t) => {
    const sshd = await startSshd(t);
    const host = sshHost(sshd.target());
    const connection = 'echo $SSH_CONNECTION';
    const first = await sh(host, connection);
    assert.equal(await sh(sshHost(sshd.target()), connection), first);
    assert.equal(sshd.killMasters(), 1);
    const second = await sh(host, connection);
    assert.notEqual(second, first);
    await host.renew();
    assert.notEqual(await sh(host, connection), second);
    assert.equal(sshd.killMasters(), 1);
  });

  test('IPv6', async (t) => {
    if (!(await hasLoopback6())) return t.skip('this machine has no IPv6 loopback address, which is optional');
    const host = sshHost((await startSshd(t, { listen: '::1' })).target());
    assert.match(await sh(host, 'echo $SSH_CONNECTION'), /^::1 /);
  });

  test('what ~/.ssh/config says of a host is used, but for how its key is checked', async (t) => {
    const sshd = await startSshd(t);
    const { key, ...rest } = sshd.target();
    const config = join(sshd.folder, 'ssh-config');
    writeFileSync(
      config,
      `Host box\n  HostName 127.0.0.1\n  Port ${sshd.port}\n  IdentityFile ${key}\n  IdentitiesOnly yes\n  RemoteCommand false\n  RequestTTY force\n  LogLevel QUIET\n  StrictHostKeyChecking no\n`,
    );
    const { port: _, ...target } = rest;
    const host = sshHost({ ...target, address: 'box', config });
    assert.equal(await sh(host, 'echo in'), 'in\n');
    sshd.killMasters();
    await sshd.changeHostKey('ed25519');
    await assert.rejects(sh(host, ':'), is(sshErrors.HostKeyChanged));
  });

  test('through a jump host, whose own key is checked too', async (t) => {
    const inner = await startSshd(t);
    const gate = await startSshd(t);
    const jump = gate.target({ name: 'gate', pin: { file: join(gate.folder, 'pins', 'gate'), alias: 'gate' } });
    const host = sshHost(inner.target({ name: 'inner', jump }));
    assert.equal(await sh(host, 'echo $HOME'), `${inner.home}\n`);
    assert.ok(existsSync(jump.pin.file));
    inner.killMasters();
    gate.killMasters();
    await gate.changeHostKey('ed25519');
    await assert.rejects(sh(host, ':'), (error: MantaError<{ host: string; file: string }>) => {
      assert.ok(sshErrors.HostKeyChanged.is(error), String(error));
      assert.deepEqual([error.data.host, error.data.file], ['gate', jump.pin.file]);
      return true;
    });
  });

  test('an address that a shell could read as something else is refused', async (t) => {
    const sshd = await startSshd(t, { running: false });
    for (const address of ['-oProxyCommand=x', 'a b', 'a;b', '', 'x@y'])
      await assert.rejects(sh(sshHost(sshd.target({ address })), ':'), is(sshErrors.BadAddress));
  });

  test('a control folder that others can enter is not used, and a long path is no problem', async (t) => {
    const sshd = await startSshd(t);
    const open = join(sshd.folder, 'open');
    mkdirSync(open);
    chmodSync(open, 0o755);
    await assert.rejects(sh(sshHost(sshd.target({ control: open })), ':'), is(sshErrors.ControlFolder));
    const strange = sshd.target({
      control: join(sshd.folder, 'a b%h'),
      pin: { file: join(sshd.folder, 'c d%h', 'pin'), alias: 'instance-1' },
    });
    assert.equal(await sh(sshHost(strange), 'echo in'), 'in\n');
    assert.ok(existsSync(strange.pin.file));
    const long = sshHost(sshd.target({ control: join(sshd.folder, 'x'.repeat(90)) }));
    assert.equal(await sh(long, 'echo in'), 'in\n');
  });
});

suite('why a host cannot be reached', { skip }, () => {
  test('refused, no such name, wrong key, closed at once, silent: each is told apart', async (t) => {
    const sshd = await startSshd(t);
    const reach = (over: object): Promise<unknown> => sh(sshHost(sshd.target({ ...over })), ':');
    await assert.rejects(reach({ port: await freePort('127.0.0.1') }), is(sshErrors.Refused));
    await assert.rejects(reach({ address: 'no-such-host.invalid' }), is(sshErrors.Unreachable));
    await assert.rejects(reach({ key: join(sshd.folder, 'host-key') }), (error: MantaError) => {
      assert.ok(sshErrors.AuthFailed.is(error), String(error));
      assert.match(error.hint ?? '', /offered: .*host-key/);
      return true;
    });
    const closing = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    t.after(() => {
      closing.close();
      silent.close();
    });
    await Promise.all([once(closing, 'listening'), once(silent, 'listening')]);
    const portOf = (server: typeof silent): number => (server.address() as { port: number }).port;
    await assert.rejects(reach({ port: portOf(closing) }), (error) => {
      assert.ok(sshErrors.Dropped.is(error) && error.data.during === 'connecting', String(error));
      return true;
    });
    await assert.rejects(reach({ port: portOf(silent), connectTimeout: 1_000 }), is(sshErrors.Timeout));
    writeFileSync(join(sshd.folder, 'bad-config'), 'NoSuchOption yes\n');
    await assert.rejects(reach({ config: join(sshd.folder, 'bad-config') }), is(sshErrors.ClientFailed));
  });

  test('a user who may log in but not run a program', async (t) => {
    const sshd = await startSshd(t, { instead: 'echo This account is not available; exit 1' });
    await assert.rejects(sshHost(sshd.target()).connect({ signal, within: 60_000 }), (error: Error) => {
      assert.ok(sshErrors.NoShell.is(error), String(error));
      assert.match(error.message, /This account is not available/);
      return true;
    });
  });

  test("a proxy command's own reason is shown", async (t) => {
    const sshd = await startSshd(t);
    const proxyCommand = `sh -c 'echo "nc: connect to %h port %p: Connection refused" >&2; exit 1'`;
    await assert.rejects(sh(sshHost(sshd.target({ proxyCommand })), ':'), is(sshErrors.Refused));
  });

  test('without a client on this machine', async (t) => {
    const sshd = await startSshd(t, { running: false });
    const host = sshHost(sshd.target(), { ssh: 'no-such-client' });
    await assert.rejects(sh(host, ':'), is(sshErrors.NoClient));
  });

  test('a connection that is lost while a program runs, and not one that ends with 255', async (t) => {
    const sshd = await startSshd(t);
    const host = sshHost(sshd.target());
    for (const lose of [sshd.cutConnections, sshd.killMasters]) {
      const running = host.sh('echo begun; sleep 1000', { signal, onStdout: () => assert.ok(lose() > 0) });
      await assert.rejects(running, (error) => {
        assert.ok(sshErrors.Dropped.is(error) && error.data.during === 'running', String(error));
        return true;
      });
    }
    assert.equal((await host.sh('exit 255', { signal })).code, 255);
  });

  test('connecting waits for a machine that is coming up, and says why', async (t) => {
    const sshd = await startSshd(t, { running: false });
    const host = sshHost(sshd.target());
    const reasons: Error[] = [];
    let starting: Promise<void> | undefined;
    const onWait = (why: Error): void => {
      reasons.push(why);
      if (reasons.length === 2) starting = sshd.start();
    };
    await host.connect({ signal, within: 60_000, onWait });
    await starting;
    assert.ok(
      reasons.slice(0, 2).every((why) => sshErrors.Refused.is(why)),
      String(reasons),
    );
  });

  test('connecting gives up at its deadline with the true reason, and at once where waiting does not help', async (t) => {
    const sshd = await startSshd(t);
    const nobody = sshHost(sshd.target({ port: await freePort('127.0.0.1') }));
    await assert.rejects(nobody.connect({ signal, within: 3_000 }), is(sshErrors.Refused));
    const stranger = sshHost(sshd.target({ key: join(sshd.folder, 'host-key') }));
    const onWait = (why: Error): void => assert.fail(why);
    await assert.rejects(stranger.connect({ signal, within: 60_000, onWait }), is(sshErrors.AuthFailed));
  });
});

test('a last try that the deadline cuts short does not hide why the others failed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'manta-ssh-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const client = join(folder, 'ssh');
  writeFileSync(
    client,
    `#!/bin/sh\n[ -e ${folder}/tried ] && exec sleep 60\n: >${folder}/tried\necho 'ssh: connect to host h port 22: No route to host' >&2; exit 255\n`,
    { mode: 0o755 },
  );
  const pin = { file: join(folder, 'h.pin'), alias: 'h' };
  const host = sshHost({ name: 'h', address: 'h', pin, control: join(folder, 'c') }, { ssh: client });
  await assert.rejects(host.connect({ signal, within: 4_000 }), is(sshErrors.Unreachable));
});

suite('tunnels and terminals', { skip }, () => {
  const text = async (
    host: Host,
    command: string,
    input: Uint8Array,
    tty = false,
  ): Promise<[Buffer, number | null]> => {
    const child = host.open(command, { stdio: ['pipe', 'pipe', 'inherit'], tty });
    const pieces: Buffer[] = [];
    child.stdout?.on('data', (piece: Buffer) => void pieces.push(piece));
    child.stdin?.end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    return [Buffer.concat(pieces), code];
  };

  test('an open command has pipes that change no byte, its exit code, and quotes that hold', async (t) => {
    const host = sshHost((await startSshd(t)).target());
    await host.connect({ signal, within: 60_000 });
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 256));
    const [echo, code] = await text(host, 'cat; exit 9', bytes);
    assert.ok(echo.equals(bytes));
    assert.equal(code, 9);
    const word = `it's "$HOME" & more; \\n`;
    assert.equal(String((await text(host, `printf %s ${shellQuoted(word)}`, Buffer.alloc(0)))[0]), word);
  });

  test('an open command with a terminal has one', async (t) => {
    const host = sshHost((await startSshd(t)).target());
    await host.connect({ signal, within: 60_000 });
    const child = host.open('tty; [ -t 0 ] && echo yes; read line; echo "got $line"', { stdio: 'pipe', tty: true });
    let said = '';
    child.stdout?.on('data', (piece: Buffer) => {
      said += String(piece);
    });
    await until('it asks', () => said.includes('yes'));
    child.stdin?.write('ä\n');
    await once(child, 'close');
    assert.match(said, /^\/dev\/pts\//);
    assert.match(said, /got ä/);
  });

  test('a port of this machine leads to one there, as long as the command runs', async (t) => {
    const host = sshHost((await startSshd(t)).target());
    await host.connect({ signal, within: 60_000 });
    const server = createServer((socket) => socket.end('through')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const localPort = await freePort('127.0.0.1');
    const remotePort = (server.address() as { port: number }).port;
    const child = host.open('exec cat', {
      stdio: ['pipe', 'ignore', 'inherit'],
      forwards: [{ localPort, remotePort }],
    });
    assert.equal(await until('it stands', () => ask({ port: localPort })), 'through');
    child.stdin?.end();
    await once(child, 'close');
    assert.equal(await ask({ port: localPort }), undefined);
  });

  for (const where of ['over SSH', 'on this machine'])
    test(`a socket of this machine leads to a port or a socket there, for this user alone: ${where}`, async (t) => {
      const sshd = await startSshd(t);
      const host = where === 'over SSH' ? sshHost(sshd.target()) : thisHost();
      const far = join(sshd.folder, 'far.sock');
      const server = createServer((socket) => socket.end('through')).listen(far);
      await once(server, 'listening');
      t.after(() => server.close());
      const near = await host.forward({ socket: far }, signal);
      assert.equal(statSync(near).mode & 0o777, 0o600);
      assert.equal(await ask({ path: near }), 'through');
      if (where === 'over SSH')
        for (const lose of [sshd.killMasters, sshd.cutConnections]) {
          assert.ok(lose() > 0);
          assert.equal(await until('the tunnel stands again', () => ask({ path: near })), 'through');
        }
      await host.close();
      assert.equal(await ask({ path: near }), undefined);
    });

  test('a tunnel stands on when another to the same place ends, and what killed processes left is cleared', async (t) => {
    const sshd = await startSshd(t);
    const far = join(sshd.folder, 'far.sock');
    const server = createServer((socket) => socket.end('through')).listen(far);
    await once(server, 'listening');
    t.after(() => server.close());
    const [kept, ended] = [sshHost(sshd.target()), sshHost(sshd.target())];
    t.after(() => kept.close());
    const [near, other] = await Promise.all([kept, ended].map((host) => host.forward({ socket: far }, signal)));
    assert.notEqual(near, other);
    await ended.close();
    assert.equal(await ask({ path: near as string }), 'through');
    assert.equal(await kept.forward({ socket: far }, signal), near, 'one that stands is used again');

    const gone = spawn('true');
    await once(gone, 'exit');
    const left = (near as string).replace(/\.\d+-\w+$/, `.${gone.pid}-1a`);
    writeFileSync(left, '');
    await kept.forward({ port: 1 }, signal);
    assert.ok(!existsSync(left));
    assert.ok(existsSync(near as string));
  });
});

async function ask(where: { port: number } | { path: string }): Promise<string | undefined> {
  const socket = connect('port' in where ? { host: '127.0.0.1', ...where } : where);
  let said = '';
  socket.on('data', (piece) => {
    said += String(piece);
  });
  const heard = await new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(true));
  });
  return heard && said !== '' ? said : undefined;
}

async function hasLoopback6(): Promise<boolean> {
  return await freePort('::1').then(
    () => true,
    () => false,
  );
}
