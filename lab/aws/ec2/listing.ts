/** What the Describe calls of EC2 have in common: ids, filters, pages, tags. */
import type { Filter, Tag, TagSpecification } from '@aws-sdk/client-ec2';
import type { Caller } from '../caller.ts';
import { awsError } from '../errors.ts';
import type { Conditions } from '../policy.ts';

export type Tags = Readonly<Record<string, string>>;

/** Values that an item has for the filter of each name. */
export type FilterTable<T> = Readonly<Record<string, (item: T) => readonly (string | undefined)[]>>;

const wild = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .replace(/[.+^${}()|[\]]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    's',
  );

/** Whether an item passes all filters. Values of one filter are alternatives, with `*` and `?` in them. */
export function filterBy<T>(
  filters: readonly Filter[] | undefined,
  table: FilterTable<T>,
  tagsOf: (item: T) => Tags,
): (item: T) => boolean {
  const tests = (filters ?? []).map(({ Name: name = '', Values: values = [] }) => {
    if (values.length > 200)
      throw awsError('FilterLimitExceeded', 'The maximum number of filter values specified on a single call is 200');
    const wanted = values.map(wild);
    const fits = (given: readonly (string | undefined)[]): boolean =>
      given.some((each) => each !== undefined && wanted.some((pattern) => pattern.test(each)));
    if (name.startsWith('tag:')) return (item: T) => fits([tagsOf(item)[name.slice(4)]]);
    if (name === 'tag-key') return (item: T) => fits(Object.keys(tagsOf(item)));
    const read = Object.hasOwn(table, name) ? table[name] : undefined;
    if (read === undefined) throw awsError('InvalidParameterValue', `The filter '${name}' is invalid`);
    return (item: T) => fits(read(item));
  });
  return (item) => tests.every((test) => test(item));
}

/** The ids that were asked for; throws for one that there is not. */
export function byIds<T extends { readonly id: string }>(
  all: readonly T[],
  ids: readonly string[] | undefined,
  code: string,
  words: string,
): readonly T[] {
  if (ids === undefined || ids.length === 0) return all;
  return ids.map((id) => {
    const found = all.find((each) => each.id === id);
    if (found === undefined) throw awsError(code, `The ${words} '${id}' does not exist`);
    return found;
  });
}

/** One page of a list, no longer than the caller and the cloud's `page_size` allow. */
export function pageOf<T>(
  caller: Caller,
  all: readonly T[],
  { MaxResults, NextToken }: { readonly MaxResults?: number | undefined; readonly NextToken?: string | undefined },
  most = Number.POSITIVE_INFINITY,
): { readonly page: readonly T[]; readonly next: string | undefined } {
  const start = NextToken === undefined ? 0 : Number(Buffer.from(NextToken, 'base64url').toString());
  if (!Number.isInteger(start) || start < 0) throw awsError('InvalidNextToken', 'The provided next token is invalid');
  const size = Math.min(MaxResults ?? most, most, caller.world.cloud.settings.page_size);
  const end = start + size;
  const next = end < all.length ? Buffer.from(String(end)).toString('base64url') : undefined;
  return { page: all.slice(start, end), next };
}

export const writeTags = (tags: Tags): Tag[] => Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

export function readTags(tags: readonly Tag[] | undefined): Tags {
  const read: Record<string, string> = {};
  for (const { Key: key = '', Value: value = '' } of tags ?? []) {
    if (key === '') throw awsError('InvalidParameterValue', 'Tag key cannot be empty');
    if (key.toLowerCase().startsWith('aws:'))
      throw awsError('InvalidParameterValue', "Tag keys starting with 'aws:' are reserved for internal use");
    if (key.length > 128)
      throw awsError('InvalidParameterValue', `Tag key exceeds the maximum length of 128 characters`);
    if (value.length > 256)
      throw awsError('InvalidParameterValue', `Tag value exceeds the maximum length of 256 characters`);
    if (Object.hasOwn(read, key)) throw awsError('InvalidParameterValue', `Duplicate tag key '${key}' specified.`);
    read[key] = value;
  }
  if (Object.keys(read).length > 50) throw tooManyTags();
  return read;
}

export const tooManyTags = () =>
  awsError('TagLimitExceeded', 'The maximum number of Tags for a resource has been reached.');

/** Tags that a call gives to what it creates, by the kind of thing. Throws for a kind that it does not create. */
export function specifiedTags(
  specifications: readonly TagSpecification[] | undefined,
  kinds: readonly string[],
): ReadonlyMap<string, Tags> {
  const read = new Map<string, Tags>();
  for (const { ResourceType: kind = '', Tags: tags } of specifications ?? []) {
    if (!kinds.includes(kind))
      throw awsError('InvalidParameterValue', `'${kind}' is not a valid taggable resource type for this operation.`);
    if (read.has(kind))
      throw awsError('InvalidParameterValue', `Duplicate TagSpecification for resource type '${kind}'`);
    read.set(kind, readTags(tags));
  }
  return read;
}

export const resourceTags = (tags: Tags): Conditions =>
  Object.fromEntries(
    Object.entries(tags).flatMap(([key, value]) => [
      [`aws:ResourceTag/${key}`, [value]],
      [`ec2:ResourceTag/${key}`, [value]],
    ]),
  );

export const requestTags = (tags: Tags): Conditions => ({
  ...Object.fromEntries(Object.entries(tags).map(([key, value]) => [`aws:RequestTag/${key}`, [value]])),
  ...(Object.keys(tags).length > 0 && { 'aws:TagKeys': Object.keys(tags) }),
});

/** Asks whether the caller may create something with these tags, and whether they may tag it while they do. */
export function mayCreate(caller: Caller, kind: string, tags: Tags): void {
  const arn = caller.arn(`${kind}/*`);
  caller.may(arn, requestTags(tags));
  if (Object.keys(tags).length > 0)
    caller.may(arn, { ...requestTags(tags), 'ec2:CreateAction': [caller.operation] }, 'ec2:CreateTags');
}

/** Asks whether the caller may do to this what the call does. */
export const mayTouch = (caller: Caller, kind: string, { id, tags }: { readonly id: string; readonly tags: Tags }) =>
  caller.may(caller.arn(`${kind}/${id}`), resourceTags(tags));

export const exact = (text: string | number | boolean | undefined): readonly string[] =>
  text === undefined ? [] : [String(text)];
