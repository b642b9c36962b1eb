/** Milliseconds since the epoch, finely enough that of two things one after the other each has its own. */
export const instant = (): number => performance.timeOrigin + performance.now();
