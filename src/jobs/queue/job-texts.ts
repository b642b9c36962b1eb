import type { Job } from '../../core/jobs/job.ts';

/** Of all texts together: a listing of ten thousand jobs is about as long. */
const mostKept = 16 << 20;

/** Texts of jobs for listings. A job is never changed, only replaced: its text is made once, as long as there is room. */
export class JobTexts {
  readonly #longest: number;
  #texts = new WeakMap<Job, string>();
  #kept = 0;

  /** Longer texts than `longest` are made each time: most of them are never asked for twice. */
  constructor({ longest = 4 << 10 }: { readonly longest?: number } = {}) {
    this.#longest = longest;
  }

  of(job: Job, make: () => string): string {
    const kept = this.#texts.get(job);
    if (kept !== undefined) return kept;
    const text = make();
    if (text.length > this.#longest) return text;
    this.#kept += text.length;
    if (this.#kept > mostKept) {
      this.#texts = new WeakMap();
      this.#kept = text.length;
    }
    this.#texts.set(job, text);
    return text;
  }
}
