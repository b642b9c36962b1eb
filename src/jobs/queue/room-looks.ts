import { shapeOf } from '../../core/jobs/choose.ts';
import type { Job } from '../../core/jobs/job.ts';

/** Milliseconds of one pass that go to jobs of one user for which there is no room. */
const vainPerUser = 100;

/**
 * Looks for room for waiting jobs, one pass after the other. To find none costs time too, that of everybody: a user whose
 * jobs have cost enough of it is passed over for the rest of the pass. The next passes go on with what was not looked at,
 * and come back to the rest when all of it was.
 */
export class RoomLooks {
  readonly #vain = new Map<string, number>();
  /** Shapes that found no room, of users who are passed over. */
  readonly #refused = new Map<string, Set<string>>();
  readonly #passedOver = new Set<string>();

  hasRoom(job: Job, look: () => boolean): boolean {
    const vain = this.#vain.get(job.user) ?? 0;
    const refused = this.#refused.get(job.user) ?? new Set();
    if (refused.has(shapeOf(job))) return false;
    if (vain >= vainPerUser) {
      this.#passedOver.add(job.user);
      return false;
    }
    const began = performance.now();
    if (look()) return true;
    this.#vain.set(job.user, vain + performance.now() - began);
    this.#refused.set(job.user, refused.add(shapeOf(job)));
    return false;
  }

  endPass(): void {
    for (const user of this.#refused.keys()) if (!this.#passedOver.has(user)) this.#refused.delete(user);
    this.#passedOver.clear();
    this.#vain.clear();
  }
}
