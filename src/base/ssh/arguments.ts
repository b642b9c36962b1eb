import { homedir } from 'node:os';
import { shellQuoted } from '../shell/shell-quote.ts';
import type { Duration } from '../time/clock.ts';
import { controlPath } from './control.ts';
import { sshErrors } from './errors.ts';
import { asksForAgent } from './forward-agent.ts';
import { isPinned, preparePin } from './pins.ts';
import { proxyLog } from './proxy-log.ts';
import type { SshTarget } from './target.ts';

export interface SshOptions {
  /** A connection of its own, which ends with the process: no master is used or made. */
  readonly alone?: boolean;
}

/** Arguments of `ssh` that lead to the target, without its address. Makes the places where ssh keeps sockets and keys. */
export function sshArguments(target: SshTarget, options: SshOptions = {}): string[] {
  refuseBadTarget(target);
  const seconds = (duration: Duration): string => String(Math.max(1, Math.ceil(duration / 1_000)));
  // A host that offers a key of another type than the pinned one would be new to `accept-new`, and be taken.
  const known = isPinned(target.pin);
  if (!known) preparePin(target.pin);
  const settings: Record<string, string> = {
    BatchMode: 'yes',
    ConnectTimeout: seconds(target.connectTimeout ?? 10_000),
    ConnectionAttempts: '1',
    ServerAliveInterval: '5',
    ServerAliveCountMax: '3',
    StrictHostKeyChecking: known ? 'yes' : 'accept-new',
    UserKnownHostsFile: pathValue(target.pin.file),
    GlobalKnownHostsFile: '/dev/null',
    HostKeyAlias: target.pin.alias,
    CheckHostIP: 'no',
    HashKnownHosts: 'no',
    UpdateHostKeys: 'no',
    VerifyHostKeyDNS: 'no',
    ExitOnForwardFailure: 'yes',
    StreamLocalBindMask: '0177',
    StreamLocalBindUnlink: 'yes',
    ForwardX11: 'no',
    ...(target.forwardAgent ? { ForwardAgent: 'yes' } : asksForAgent(target) ? {} : { ForwardAgent: 'no' }),
    RemoteCommand: 'none',
    LogLevel: 'ERROR',
    ...(options.alone
      ? { ControlMaster: 'no', ControlPath: 'none' }
      : {
          ControlMaster: 'auto',
          ControlPath: pathValue(controlPath(target)),
          ControlPersist: seconds(target.persist ?? 300_000),
        }),
  };
  const proxy = target.jump ? proxyThrough(target.jump) : target.proxyCommand;
  if (proxy !== undefined)
    settings['ProxyCommand'] = options.alone ? proxy : `${proxy} 2>>${literally(shellQuoted(proxyLog(target)))}`;
  if (target.key !== undefined) settings['IdentitiesOnly'] = 'yes';
  return [
    ...(target.config === undefined ? [] : ['-F', target.config]),
    ...(target.user === undefined ? [] : ['-l', target.user]),
    ...(target.port === undefined ? [] : ['-p', String(target.port)]),
    ...(target.key === undefined ? [] : ['-i', literally(atHome(target.key))]),
    ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
  ];
}

/** `ssh` reads the command with its own replacements of `%`, then gives it to a shell. */
function proxyThrough(jump: SshTarget): string {
  const words = [...sshArguments(jump), '-W'].map((word) => literally(shellQuoted(word)));
  return `ssh ${words.join(' ')} '[%h]:%p' ${literally(shellQuoted(jump.address))}`;
}

const literally = (text: string): string => text.replaceAll('%', '%%');

const pathValue = (path: string): string => `"${literally(path)}"`;

const atHome = (path: string): string => (path.startsWith('~/') ? `${homedir()}${path.slice(1)}` : path);

function refuseBadTarget(target: SshTarget): void {
  // Both end up in command lines that ssh makes itself (`%h`, `%r` in a ProxyCommand).
  const bad = (word: string): boolean => word === '' || word.startsWith('-') || /[\s'"`$;&|<>(){}\\@]/.test(word);
  if (bad(target.address)) throw sshErrors.BadAddress({ address: target.address });
  if (target.user !== undefined && bad(target.user)) throw sshErrors.BadAddress({ address: target.user });
  if (!/^[\w.:-]+$/.test(target.pin.alias)) throw sshErrors.BadAddress({ address: target.pin.alias });
}
