/** Questions and answers of DNS as they go over the wire (RFC 1035), as much of it as resolvers need. */

const ipv4 = 1;
const any = 255;

export interface Question {
  /** In lower case, without a dot at its end. */
  readonly name: string;
  readonly type: number;
  /** Where it ends in the message. */
  readonly end: number;
}

export interface Answer {
  /** Whether there is such a name, with addresses or without. */
  readonly found: boolean;
  readonly addresses: readonly string[];
}

/** The one question of a message; undefined when it is no question. */
export function readQuestion(message: Buffer): Question | undefined {
  if (message.length < 17 || (message[2]! & 0xf8) !== 0 || message.readUInt16BE(4) !== 1) return undefined;
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at]!; length !== 0; length = message[at]!) {
    if (length > 63 || at + length + 5 >= message.length) return undefined;
    labels.push(message.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += length + 1;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** Answers live for a second: pods come and go. */
export function answer(message: Buffer, { type, end }: Question, { found, addresses }: Answer): Buffer {
  const given = type === ipv4 || type === any ? addresses.slice(0, 20) : [];
  const head = Buffer.from(message.subarray(0, end));
  // Authoritative, recursion offered, so that no resolver looks elsewhere.
  head[2] = 0x84 | (message[2]! & 1);
  head[3] = 0x80 | (found ? 0 : 3);
  head.writeUInt16BE(given.length, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  const records = given.map((address) =>
    Buffer.from([0xc0, 12, 0, ipv4, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...records]);
}
