/** The reader counts as being at the end within this many pixels of it. */
const nearEnd = 4;

/** Keeps a view that grows at its end for as long as the reader stays there. */
export class StickyEnd {
  #following = true;
  #lastTop = 0;
  #lastHeight = 0;

  get following(): boolean {
    return this.#following;
  }

  follow(to: boolean): void {
    this.#following = to;
    this.#lastTop = 0;
  }

  /** The view goes where the reader wants it. */
  leave(): void {
    this.#following = false;
  }

  keep(element: HTMLElement): void {
    if (!this.#following) return;
    // The reader went up and the browser has not told yet; a log that grew does not move the view up by itself.
    if (element.scrollTop < this.#lastTop && element.scrollHeight >= this.#lastHeight) return;
    element.scrollTop = element.scrollHeight;
    this.#remember(element);
  }

  scrolled(element: HTMLElement): void {
    const { scrollTop } = element;
    const atEnd = scrollTop + element.clientHeight >= element.scrollHeight - nearEnd;
    // Not being at the end is not the wish of the reader when lines were added below; going up is one.
    this.#following = atEnd || (this.#following && scrollTop >= this.#lastTop);
    this.#remember(element);
  }

  #remember({ scrollTop, scrollHeight }: HTMLElement): void {
    this.#lastTop = scrollTop;
    this.#lastHeight = scrollHeight;
  }
}
