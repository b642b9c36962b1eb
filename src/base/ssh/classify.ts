import type { MantaError } from '../errors.ts';
import { sshErrors } from './errors.ts';
import { readPin } from './pins.ts';
import type { SshTarget } from './target.ts';

const hostKey = /host identification has changed|host key verification failed|host key is known for/i;
const auth =
  /permission denied(?! \(\d)|too many authentication failures|authentication failed|no more authentication methods|no supported authentication methods/i;
const refused = /connection refused/i;
const timeout = /timed out|timeout, server/i;
const unreachable =
  /no route to host|network is unreachable|stdio forwarding request failed|could not resolve|name or service not known|temporary failure in name|host is down|nodename nor servname/i;
const closed =
  /connection closed|connection reset|connection to \S+ (?:port \d+ )?closed|broken pipe|kex_exchange|mux_client|master|disconnect/i;

/** The failure that the client's own words speak of. `begun`: the shell on the other side had started. */
export function classify(target: SshTarget, stderr: string, begun: boolean): MantaError {
  const host = target.name;
  const detail = detailOf(stderr);
  if (begun) return sshErrors.Dropped({ host, during: 'running', detail });
  return (
    failureIn(target, stderr) ??
    (stderr.trim() === '' || closed.test(stderr)
      ? sshErrors.Dropped({ host, during: 'connecting', detail })
      : sshErrors.ClientFailed({ host, detail }))
  );
}

/** What the words of a program that used the connection say of its loss; undefined when they speak of something else. */
export function lossIn(target: SshTarget, stderr: string): MantaError | undefined {
  const lost = /connection unexpectedly closed|timeout|closed by remote host|connection reset|broken pipe|mux_client/i;
  const dropped = { host: target.name, during: 'running', detail: detailOf(stderr) } as const;
  return failureIn(target, stderr) ?? (lost.test(stderr) ? sshErrors.Dropped(dropped) : undefined);
}

function failureIn(target: SshTarget, stderr: string): MantaError | undefined {
  const host = target.name;
  const detail = detailOf(stderr);
  if (hostKey.test(stderr)) return hostKeyChanged(target, stderr);
  if (auth.test(stderr)) {
    const user = /^([^\s@]+)@\S+: Permission denied/m.exec(stderr)?.[1] ?? target.user;
    return sshErrors.AuthFailed({ host, user, detail, keys: [] });
  }
  if (refused.test(stderr)) return sshErrors.Refused({ host, detail });
  if (timeout.test(stderr)) return sshErrors.Timeout({ host, detail });
  if (unreachable.test(stderr)) return sshErrors.Unreachable({ host, detail });
  return undefined;
}

/** The machine whose key is meant may be one on the way. */
function hostKeyChanged(target: SshTarget, stderr: string): MantaError {
  const way = [target];
  for (let jump = target.jump; jump; jump = jump.jump) way.push(jump);
  const meant = way.find(({ pin }) => stderr.includes(` ${pin.alias} `)) ?? way.at(-1) ?? target;
  return sshErrors.HostKeyChanged({
    host: meant.name,
    instance: meant.pin.alias,
    file: meant.pin.file,
    pinned: readPin(meant.pin).map((key) => key.fingerprint),
    offered: /SHA256:[A-Za-z0-9+/]+/.exec(stderr)?.[0],
    accept: meant.pin.accept,
  });
}

/** The line that tells most, which is mostly the last one; what ssh says of a proxy's end comes after its reason. */
function detailOf(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim().replace(/^ssh: /, ''))
    .filter((line) => line !== '' && !/^[@\s]+$/.test(line));
  const telling = lines.filter(
    (line) => !/UNKNOWN port|kex_exchange_identification: Connection closed|disabling multiplexing|^debug/.test(line),
  );
  return (telling.at(-1) ?? lines.at(-1) ?? 'no reason given').replace(/\.$/, '');
}
