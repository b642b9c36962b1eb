/** So many at once; the rest wait in order. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async use<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(signal);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    const turn = Promise.withResolvers<void>();
    const mine = (): void => turn.resolve();
    const aborted = (): void => {
      const at = this.#waiting.indexOf(mine);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      turn.reject(signal.reason as Error);
    };
    this.#waiting.push(mine);
    signal.addEventListener('abort', aborted, { once: true });
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener('abort', aborted);
    }
  }
}
