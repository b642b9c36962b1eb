import { openJobs } from '../../head/client/jobs.ts';
import type { Run } from '../command.ts';
import { withHead } from './cluster-connection.ts';
import type { jobOptions } from './job.ts';
import { jobText } from './job-text.ts';
import { rayVoice } from './ray-voice.ts';

export const run: Run<typeof jobOptions> = (invocation, io) =>
  withHead(invocation, io, async (http) => {
    const jobs = await openJobs({ http, signal: io.signal, events: io.events });
    const voice = rayVoice(invocation, io);
    await voice?.server(http);
    const job = await jobs.get(invocation.args[0]!);
    if (voice !== undefined) voice.standing(job);
    else io.out(io.json ? `${JSON.stringify(job.answer)}\n` : jobText(job));
    return 0;
  });
