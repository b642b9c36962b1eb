import { defineError } from '../base/errors.ts';

/** What can stop the copying of files to or from a node. */
export const syncErrors = {
  LocalMissing: defineError<{ local: string; remote: string; typed?: boolean }>({
    code: 'MANTA_SYNC_LOCAL_MISSING',
    exit: 2,
    message: (e) => `'${e.local}', which is to be copied to '${e.remote}', is not on this machine`,
    hint: (e) =>
      e.typed === true
        ? 'give a path that is there; a relative one counts from the folder you stand in'
        : "correct 'file_mounts' of the cluster file, or make the file",
  }),
  NoRsyncHere: defineError({
    code: 'MANTA_SYNC_NO_RSYNC_HERE',
    exit: 3,
    message: () => "'rsync' is not installed on this machine",
    hint: () => "install the package 'rsync'",
  }),
  NoRsyncThere: defineError<{ host: string }>({
    code: 'MANTA_SYNC_NO_RSYNC_THERE',
    exit: 1,
    message: (e) => `'rsync' is not installed on ${e.host}`,
    hint: () => "install it there, for example by 'sudo apt-get install -y rsync', or choose an image that has it",
  }),
  NoSpace: defineError<{ host: string; path: string }>({
    code: 'MANTA_SYNC_NO_SPACE',
    exit: 1,
    message: (e) => `there is no space left for '${e.path}' on ${e.host}`,
    hint: () => "free some, or leave files out with 'rsync_exclude'",
  }),
  Denied: defineError<{ host: string; path: string; detail: string }>({
    code: 'MANTA_SYNC_DENIED',
    exit: 1,
    message: (e) => `'${e.path}' cannot be copied to or from ${e.host}: ${e.detail}`,
    hint: () => 'the user that logs in needs access to that path',
  }),
  NoisyShell: defineError<{ host: string; detail: string }>({
    code: 'MANTA_SYNC_NOISY_SHELL',
    exit: 1,
    message: (e) => `the shell of the user on ${e.host} prints something when a program is run: ${e.detail}`,
    hint: () => 'its start-up file (.bashrc, .zshenv, …) may print only where there is a terminal',
  }),
  Failed: defineError<{ host: string; path: string; code: number; detail: string }>({
    code: 'MANTA_SYNC_FAILED',
    exit: 1,
    message: (e) => `copying '${e.path}' to or from ${e.host} failed: ${e.detail} (rsync exit code ${e.code})`,
    hint: () => 'what was copied stays: the same command again copies the rest',
  }),
};
