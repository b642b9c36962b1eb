import { shellQuoted } from '../base/shell-quote.ts';
import { headHome } from './state-folder.ts';

/** What starts mantad after a reboot of the head: a unit of systemd, or a line of cron with this mark. */
export const bootUnit = (cluster: string): string => `manta-${cluster}.service`;
export const bootMark = (cluster: string): string => `# manta ${cluster}`;
export const bootScript = (cluster: string): string => `${headHome}/boot-${cluster}.sh`;

/** Sh text, for the home of the user there, that takes all of it away. */
export function removeBootText(cluster: string): string {
  const mark = shellQuoted(bootMark(cluster));
  const unit = `.config/systemd/user/${bootUnit(cluster)}`;
  // An empty table is removed: that needs no room on a disk that may be full.
  return `if command -v crontab >/dev/null && crontab -l 2>/dev/null | grep -qF ${mark}; then
  if crontab -l | grep -qvF ${mark}; then crontab -l | grep -vF ${mark} | crontab -; else crontab -r; fi
fi
if [ -f ${unit} ]; then systemctl --user disable ${bootUnit(cluster)} >/dev/null 2>&1; rm -f ${unit}; fi
rm -f ${bootScript(cluster)}
`;
}

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
