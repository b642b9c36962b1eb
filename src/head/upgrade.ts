import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, namesIn, readJson, writeJson } from '../base/json-file.ts';
import { type ClusterFile, type StateFolder, writeCluster } from './state-folder.ts';

/**
 * `upgrade.json`: a mantad of another version takes over. Written by the command before the old one is told to end, and
 * removed by the new one before it acknowledges its first write, or when it serves. As long as it is there, whatever the
 * new one wrote was promised to nobody, and the supervisor can bring the old one back.
 */
export interface Upgrade {
  readonly from: string;
  readonly to: string;
  readonly since: number;
  /** Starts the supervisor of the old version. */
  readonly command: readonly string[];
  /** `cluster.json` as the old version wrote it. */
  readonly record: string;
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

export function upgradeOf({ files }: StateFolder): Upgrade | undefined {
  try {
    return readJson<Upgrade>(files.upgrade);
  } catch {
    return undefined;
  }
}

export const failedUpgrade = ({ files }: StateFolder): FailedUpgrade | undefined =>
  readJson<FailedUpgrade>(files.failedUpgrade);

/** From here on there is no way back. */
export function settleUpgrade({ files }: StateFolder): void {
  rmSync(files.upgrade, { force: true });
  rmSync(files.beforeUpgrade, { recursive: true, force: true });
}

/** What mantad writes in a format of its own, but for output and packages, which look the same in all. */
const hasFormat = (name: string): boolean =>
  /^(?:journal\.db(?:-wal)?|ray-attempts|[\w-]+\.json)$/.test(name) &&
  !['cluster.json', 'mantad.json', 'upgrade.json', 'upgrade-failed.json'].includes(name);

/** Copies what the old version wrote, once no mantad runs any more. Done before: nothing. */
export function keepOldFormat(folder: StateFolder, upgrade: Upgrade): void {
  const { beforeUpgrade } = folder.files;
  const mark = 'upgrade.json';
  if (readJson<Upgrade>(join(beforeUpgrade, mark))?.since === upgrade.since) return;
  rmSync(beforeUpgrade, { recursive: true, force: true });
  const draft = `${beforeUpgrade}.new`;
  rmSync(draft, { recursive: true, force: true });
  makeFolder(draft);
  for (const name of namesIn(folder.path).filter(hasFormat))
    cpSync(join(folder.path, name), join(draft, name), { recursive: true });
  writeJson(join(draft, mark), upgrade);
  renameSync(draft, beforeUpgrade);
}

/** Puts back what the old version wrote. Cut short it is done again from the start. */
export function restoreOldFormat(folder: StateFolder, upgrade: Upgrade, why: string): void {
  const { files, path } = folder;
  const kept = namesIn(files.beforeUpgrade).filter(hasFormat);
  for (const name of namesIn(path))
    if (hasFormat(name) || name === 'journal.db-shm') rmSync(join(path, name), { recursive: true, force: true });
  for (const name of kept) cpSync(join(files.beforeUpgrade, name), join(path, name), { recursive: true });
  writeCluster(folder, JSON.parse(upgrade.record) as ClusterFile);
  if (upgrade.boot !== undefined && existsSync(upgrade.boot.kept)) renameSync(upgrade.boot.kept, upgrade.boot.script);
  const failed: FailedUpgrade = { at: Date.now(), from: upgrade.from, to: upgrade.to, why };
  writeJson(files.failedUpgrade, failed);
  settleUpgrade(folder);
}
