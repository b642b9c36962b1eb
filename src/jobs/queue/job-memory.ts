import type { Job } from '../../core/jobs/job.ts';

/** Measured on V8, for the shapes that take most: a job with its places in tables, an object of names that no other has. */
const emptyJob = 300;
const list = 48;
const listEntry = 24;
const object = 64;
const objectEntry = 72;
const text = 24;

/** Bytes of mantad's memory that a job takes: an estimate that errs upwards, also where JSON of few bytes is many objects. */
export function memoryOf(job: Job): number {
  let bytes = emptyJob;
  const left: unknown[] = [
    job.id,
    job.entrypoint,
    job.message,
    job.runtimeEnv,
    job.metadata,
    job.resources,
    job.labels,
    job.gang,
    job.dependsOn,
    job.attempts,
  ];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') bytes += textBytes(value);
    else if (Array.isArray(value)) {
      bytes += list + value.length * listEntry;
      for (const each of value as unknown[]) left.push(each);
    } else if (typeof value === 'object' && value !== null) {
      bytes += object;
      for (const [name, each] of Object.entries(value)) {
        bytes += objectEntry + textBytes(name);
        left.push(each);
      }
    }
  }
  return bytes;
}

/** V8 takes two bytes a character as soon as one is outside of Latin-1. */
const textBytes = (value: string): number =>
  text + (Buffer.byteLength(value) === value.length ? value.length : 2 * value.length);

/** What the jobs that are kept take, in all and by user. */
export class JobMemory {
  readonly #jobs = new Map<string, { readonly user: string; readonly bytes: number }>();
  readonly #users = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(user: string): number {
    return this.#users.get(user) ?? 0;
  }

  /** Counts a job as it is now; undefined: it is not kept any more. */
  set(id: string, job: Job | undefined): void {
    const before = this.#jobs.get(id);
    if (before) this.#add(before.user, -before.bytes);
    if (job) {
      const counted = { user: job.user, bytes: memoryOf(job) };
      this.#jobs.set(id, counted);
      this.#add(counted.user, counted.bytes);
    } else this.#jobs.delete(id);
  }

  #add(user: string, bytes: number): void {
    this.#total += bytes;
    const now = this.of(user) + bytes;
    if (now > 0) this.#users.set(user, now);
    else this.#users.delete(user);
  }
}
