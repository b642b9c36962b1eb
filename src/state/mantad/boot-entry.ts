import { editLinesText, literally } from '../../base/files/edit-lines.ts';
import { readShell, shellCommand } from '../../base/shell/shell-file.ts';
import { shellQuoted } from '../../base/shell/shell-quote.ts';
import { folderOnHead, headHome } from '../state-folder.ts';

const removing = readShell(new URL('./remove-boot.sh', import.meta.url));
const starting = readShell(new URL('./mantad-start.sh', import.meta.url));
const reloading = readShell(new URL('./mantad-reload.sh', import.meta.url));

/** What starts mantad after a reboot of the head: a unit of systemd, or a line of cron that ends with a mark. */
export const bootUnit = (cluster: string): string => `manta-${cluster}.service`;
const bootMark = (cluster: string): string => `# manta ${cluster}`;
const bootPattern = (cluster: string): string => `${literally(bootMark(cluster))}$`;
export const bootScript = (cluster: string): string => `${headHome}/boot-${cluster}.sh`;

/** Sh text that takes all of it away, where something of it is there. */
export function removeBootText(cluster: string): string {
  const edit = editLinesText({ target: 'crontab', pattern: bootPattern(cluster) });
  const removal = shellCommand(removing, { unit: bootUnit(cluster), boot_script: bootScript(cluster) });
  return `! command -v crontab >/dev/null || ${edit}\n${removal}\n`;
}

/** Sh command that has cron start mantad at a boot. */
export const addCronText = (cluster: string, home: string): string =>
  editLinesText({
    target: 'crontab',
    pattern: bootPattern(cluster),
    line: `@reboot sh ${shellQuoted(`${home}/${bootScript(cluster)}`)} >/dev/null 2>&1 ${bootMark(cluster)}`,
  });

/** Sh test: cron starts mantad at a boot. */
export const hasCronText = (cluster: string): string =>
  `command -v crontab >/dev/null && crontab -l 2>/dev/null | grep -q ${shellQuoted(bootPattern(cluster))}`;

/** Sh command that starts mantad under its supervisor, which lives on. */
export const startText = (cluster: string): string =>
  `${shellCommand(starting, { boot_script: bootScript(cluster) })}\n`;

/** Sh command that has mantad read its record and its files again, where it runs. */
export const reloadText = (cluster: string): string =>
  `${shellCommand(`${mantadPrelude}${reloading}`, { folder: folderOnHead(cluster).path })}\n`;

/** Sh functions: whom a lock file names, and whether that is a program of Manta that runs. */
export const mantadPrelude = readShell(new URL('./mantad-prelude.sh', import.meta.url));
