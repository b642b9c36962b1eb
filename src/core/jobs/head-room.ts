import { defaultLimits } from './choose.ts';

/** What Ray and Manta take of a head's memory before the first job. */
const ownMemory = 1.25 * 2 ** 30;
/** Of a job that asks for nothing: the actor of Ray that runs it takes 60 MiB, and a small driver as much again. */
const memoryOfJob = 128 * 2 ** 20;
const fewest = 4;

/** How many jobs that ask for nothing a head of Ray bears at once. Ray books nothing for them, and starts them all. */
export function headJobsIn(bytesOfMemory: number): number {
  const fit = Math.floor((bytesOfMemory - ownMemory) / memoryOfJob);
  return Math.min(defaultLimits.headJobs, Math.max(fewest, fit));
}
