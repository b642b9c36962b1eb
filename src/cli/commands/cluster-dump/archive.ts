import { gzipSync } from 'node:zlib';

export interface ArchiveEntry {
  readonly name: string;
  readonly content: Buffer;
}

const block = 512;

/** A gzipped tar archive (ustar) of small files, readable by their owner only. */
export function archiveOf(entries: readonly ArchiveEntry[], at: number): Buffer {
  const parts = entries.flatMap(({ name, content }) => [
    headerOf(name, content.length, at),
    content,
    Buffer.alloc((block - (content.length % block)) % block),
  ]);
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * block)]));
}

function headerOf(name: string, size: number, at: number): Buffer {
  const header = Buffer.alloc(block);
  const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, '0')}\0`;
  const [prefix, rest] = splitName(name);
  const fields: readonly (readonly [number, string])[] = [
    [0, rest],
    [100, octal(0o600, 8)],
    [108, octal(0, 8)],
    [116, octal(0, 8)],
    [124, octal(size, 12)],
    [136, octal(Math.floor(at / 1_000), 12)],
    // The checksum counts its own field as blanks.
    [148, '        '],
    [156, '0'],
    [257, 'ustar\x0000'],
    [345, prefix],
  ];
  for (const [offset, text] of fields) header.write(text, offset, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

/** A long name is split at a slash, into a hundred bytes at most and what is before them. */
function splitName(name: string): readonly [prefix: string, rest: string] {
  if (Buffer.byteLength(name) <= 100) return ['', name];
  const at = name.indexOf('/', name.length - 101);
  return at < 0 ? ['', name.slice(-100)] : [name.slice(0, at), name.slice(at + 1)];
}
