import { editLinesText, literally } from '../base/edit-lines.ts';
import { shellQuoted } from '../base/shell-quote.ts';
import { headHome } from './state-folder.ts';

/** What starts mantad after a reboot of the head: a unit of systemd, or a line of cron that ends with a mark. */
export const bootUnit = (cluster: string): string => `manta-${cluster}.service`;
const bootMark = (cluster: string): string => `# manta ${cluster}`;
const bootPattern = (cluster: string): string => `${literally(bootMark(cluster))}$`;
export const bootScript = (cluster: string): string => `${headHome}/boot-${cluster}.sh`;

/** Sh text, for the home of the user there, that takes all of it away. */
export function removeBootText(cluster: string): string {
  const unit = `.config/systemd/user/${bootUnit(cluster)}`;
  const edit = editLinesText({ target: 'crontab', pattern: bootPattern(cluster) });
  return `if command -v crontab >/dev/null; then ${edit}; fi
if [ -f ${unit} ]; then systemctl --user disable ${bootUnit(cluster)} >/dev/null 2>&1; rm -f ${unit}; fi
rm -f ${bootScript(cluster)}
`;
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

/** Sh text, for the home of the user there, that starts mantad under its supervisor, and lets it live on. */
export function startText(cluster: string): string {
  const start = `sh ${bootScript(cluster)} </dev/null >/dev/null 2>&1 &`;
  return `if command -v setsid >/dev/null; then setsid ${start}\nelse nohup ${start} fi\n`;
}

/** Sh text, for the home of the user there, that has mantad read its record and its files again, where it runs. */
export const reloadText = (cluster: string): string => `${aliveText}
p=$(holder ${headHome}/clusters/${cluster}/mantad.lock); if alive "$p" mantad; then kill -HUP "$p" 2>/dev/null; fi; :
`;

/** Sh functions: whom a lock file names, and whether that is a live program of Manta's by this name. */
export const aliveText = `holder() { sed -n 's/.*"pid":[ ]*\\([0-9]*\\).*/\\1/p' "$1" 2>/dev/null | head -n 1; }
alive() { [ -n "$1" ] && kill -0 "$1" 2>/dev/null && { [ ! -d /proc/self ] || tr '\\0' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -q "/$2\\.[jt]s "; }; }`;
