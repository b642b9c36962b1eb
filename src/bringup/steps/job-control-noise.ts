const noise = /^[-\w./]*bash: (?:cannot set terminal process group \(-?\d+\): [^\n]*|no job control in this shell)\n/;
const lines = ['cannot set terminal process group (', 'no job control in this shell\n'];
const longest = 200;

/**
 * Drops what `bash -i` complains of at the front of its output when it has no terminal. Anything else passes as it
 * comes; only what may still become such a line is held back.
 */
export class JobControlNoise {
  #held = '';
  #over: boolean;
  #offset: number;
  readonly #onBytes: (bytes: Buffer, offset: number) => void;

  constructor(offset: number, onBytes: (bytes: Buffer, offset: number) => void) {
    this.#over = offset > 0;
    this.#offset = offset;
    this.#onBytes = onBytes;
  }

  push(bytes: Buffer): void {
    if (this.#over) {
      this.#pass(bytes);
      return;
    }
    this.#held += bytes.toString('latin1');
    for (let found = noise.exec(this.#held); found; found = noise.exec(this.#held)) {
      this.#offset += found[0].length;
      this.#held = this.#held.slice(found[0].length);
    }
    if (!mayBecomeNoise(this.#held)) this.end();
  }

  end(): void {
    this.#over = true;
    this.#pass(Buffer.from(this.#held, 'latin1'));
    this.#held = '';
  }

  #pass(bytes: Buffer): void {
    if (bytes.length === 0) return;
    const at = this.#offset;
    this.#offset += bytes.length;
    this.#onBytes(bytes, at);
  }
}

function mayBecomeNoise(text: string): boolean {
  if (text.includes('\n') || text.length > longest) return false;
  const colon = text.indexOf(':');
  if (colon < 0) return text.startsWith('/') ? !/\s/.test(text) : 'bash'.startsWith(text) || '-bash'.startsWith(text);
  const said = text.slice(colon + 2);
  return text.slice(0, colon).endsWith('bash') && lines.some((line) => line.startsWith(said) || said.startsWith(line));
}
