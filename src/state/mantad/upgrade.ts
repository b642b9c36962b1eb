import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolder, moveDurably, syncFolder } from '../../base/files/durable.ts';
import { namesIn, readLiveJson, writeJson } from '../../base/files/json-file.ts';
import { rayAttempts } from '../../engines/ray/names.ts';
import { restoreCluster } from '../cluster-record.ts';
import { type StateFolder, stateNames } from '../state-folder.ts';

/**
 * `upgrade.json`: a mantad of another version takes over. Written by the command before the old one is told to end, and
 * removed by the new one before it acknowledges its first write, or when it serves. As long as it is there, whatever the
 * new one wrote was promised to nobody, and the supervisor can bring the old one back.
 */
export interface Upgrade {
  readonly from: string;
  readonly to: string;
  readonly since: number;
  /** Starts the supervisor of the old version; empty where its program is not there any more. */
  readonly command: readonly string[];
  /** `cluster.json` as the old version wrote it. */
  readonly record: string;
  /** It is being taken back: why. */
  readonly undone?: string;
  /** Where the command that a reboot runs was kept, and where it belongs. */
  readonly boot?: { readonly kept: string; readonly script: string };
}

/** `upgrade-failed.json`: the old version was brought back. */
export interface FailedUpgrade {
  readonly at: number;
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

export function beginUpgrade({ files }: StateFolder, upgrade: Upgrade): void {
  rmSync(files.failedUpgrade, { force: true });
  writeJson(files.upgrade, upgrade);
}

export const upgradeOf = ({ files }: StateFolder): Upgrade | undefined => readLiveJson<Upgrade>(files.upgrade);

export const failedUpgrade = ({ files }: StateFolder): FailedUpgrade | undefined =>
  readLiveJson<FailedUpgrade>(files.failedUpgrade);

/** From here on there is no way back. */
export function settleUpgrade({ files, path }: StateFolder): void {
  rmSync(files.upgrade, { force: true });
  syncFolder(path);
  rmSync(files.beforeUpgrade, { recursive: true, force: true });
}

/** What mantad writes in a format of its own, but for output and packages, which look the same in all. */
const hasFormat = (name: string): boolean =>
  [stateNames.journal, `${stateNames.journal}-wal`].includes(name) ||
  (/^[\w-]+\.json$/.test(name) && !ofAnyVersion.includes(name));

/** Beside it stand attempts of the embedded engine, which go on while mantad changes. */
const attemptRecords = join(stateNames.attempts, rayAttempts);

/** Paths below a folder of all that has such a format. */
const formattedIn = (folder: string): string[] => [
  ...namesIn(folder).filter(hasFormat),
  ...(existsSync(join(folder, attemptRecords)) ? [attemptRecords] : []),
];

/** Files that commands and the supervisor write, or that mean nothing once their process is gone. */
const ofAnyVersion: readonly string[] = [
  stateNames.cluster,
  stateNames.serving,
  stateNames.upgrade,
  stateNames.failedUpgrade,
];

const copyMark = stateNames.upgrade;

/** Whether what the old version wrote was copied whole. */
export const hasCopy = ({ files }: StateFolder, upgrade: Upgrade): boolean =>
  readLiveJson<Upgrade>(join(files.beforeUpgrade, copyMark))?.since === upgrade.since;

/** Copies what the old version wrote. No mantad may run. */
export async function keepOldFormat(folder: StateFolder, upgrade: Upgrade): Promise<void> {
  const { beforeUpgrade } = folder.files;
  const draft = `${beforeUpgrade}.new`;
  for (const path of [beforeUpgrade, draft]) rmSync(path, { recursive: true, force: true });
  makeFolder(draft);
  for (const name of formattedIn(folder.path)) cpSync(join(folder.path, name), join(draft, name), { recursive: true });
  writeJson(join(draft, copyMark), upgrade);
  await moveDurably(draft, beforeUpgrade);
}

/**
 * Puts back what the old version wrote; where it was not copied, nothing has changed it. The reason is written down
 * first: a supervisor that dies on the way is followed by one that goes on here, and not by a mantad on half of it.
 */
export async function restoreOldFormat(folder: StateFolder, upgrade: Upgrade, why: string): Promise<void> {
  const { files, path } = folder;
  writeJson(files.upgrade, { ...upgrade, undone: why } satisfies Upgrade);
  if (hasCopy(folder, upgrade)) {
    for (const name of [...formattedIn(path), `${stateNames.journal}-shm`])
      rmSync(join(path, name), { recursive: true, force: true });
    for (const name of formattedIn(files.beforeUpgrade)) {
      const draft = join(path, `.${basename(name)}.new`);
      rmSync(draft, { recursive: true, force: true });
      makeFolder(dirname(join(path, name)));
      cpSync(join(files.beforeUpgrade, name), draft, { recursive: true });
      await moveDurably(draft, join(path, name));
    }
  }
  restoreCluster(folder, upgrade.record);
  if (upgrade.boot !== undefined && existsSync(upgrade.boot.kept)) {
    renameSync(upgrade.boot.kept, upgrade.boot.script);
    syncFolder(dirname(upgrade.boot.script));
  }
  const failed: FailedUpgrade = { at: Date.now(), from: upgrade.from, to: upgrade.to, why };
  writeJson(files.failedUpgrade, failed);
  settleUpgrade(folder);
}
