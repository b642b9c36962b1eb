/** What `npm start` shows a newcomer: a cluster that scales, without a cloud. Words after `--` go to `manta`. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildWeb } from './build-web.ts';

if (!existsSync(fileURLToPath(new URL('../dist/web/index.html', import.meta.url)))) await buildWeb();
const manta = fileURLToPath(new URL('../bin/manta', import.meta.url));
const words = process.argv.length > 2 ? process.argv.slice(2) : ['demo'];
const child = spawn(process.execPath, [manta, ...words], { stdio: 'inherit' });
// The terminal sends Ctrl-C to both; the command tidies up and says with which code to end.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => void child.kill('SIGTERM'));
child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
