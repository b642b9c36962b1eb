import { isIPv4 } from 'node:net';

/** A range of IPv4 addresses, `10.128.0.0/9`, as its first and last. Undefined for others, such as those of IPv6. */
function rangeOf(text: string): { readonly first: number; readonly last: number } | undefined {
  const [address = '', bits = '32'] = text.split('/');
  if (!isIPv4(address) || !/^\d+$/.test(bits) || Number(bits) > 32) return undefined;
  const value = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(bits));
  const first = Math.floor(value / size) * size;
  return { first, last: first + size - 1 };
}

/** Whether all of a range is in another. */
export function covers(outer: string, inner: string): boolean {
  const [one, other] = [rangeOf(outer), rangeOf(inner)];
  return one !== undefined && other !== undefined && one.first <= other.first && other.last <= one.last;
}

export function overlaps(one: string, other: string): boolean {
  const [left, right] = [rangeOf(one), rangeOf(other)];
  return left !== undefined && right !== undefined && left.first <= right.last && right.first <= left.last;
}
