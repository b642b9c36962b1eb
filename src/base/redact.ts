import { withoutTrailing } from './trailing.ts';

/**
 * The one place that knows what a credential looks like in a text. Every message, event, plan, dump and answer to
 * somebody else passes through here; `test/base/redact.test.ts` holds the table of cases.
 *
 * Texts come from outside and may be megabytes long: each rule goes through a text once, and repeats without a limit only
 * what cannot be read in two ways.
 */

/** From one character to before another. */
type Span = readonly [start: number, end: number];

const mask = '***';

/** Hides values that look like credentials. */
export function redact(text: string): string {
  let shown = '';
  let at = 0;
  for (const [start, end] of spansIn(text)) {
    shown += text.slice(at, start) + mask;
    at = end;
  }
  return at === 0 ? text : shown + text.slice(at);
}

/** Deeper than any value that people write; what is below is hidden. */
const deepest = 64;

/** A value with every text in it redacted. */
export function redactTexts<Value>(value: Value, depth = 0): Value {
  if (typeof value === 'string') return redact(value) as Value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === deepest) return mask as Value;
  if (Array.isArray(value)) return value.map((each: unknown) => redactTexts(each, depth + 1)) as Value;
  const entries: readonly [string, unknown][] = Object.entries(value);
  // `{name: DB_PASSWORD, value: …}`, as variables of containers are written.
  const called = entries.find(([key]) => key === 'name')?.[1];
  const nameOf = (key: string): string => (key === 'value' && typeof called === 'string' ? called : key);
  return Object.fromEntries(
    entries.map(([key, each]) => [
      key,
      isSecretName(nameOf(key)) ? withoutSecrets(each, depth + 1) : redactTexts(each, depth + 1),
    ]),
  ) as Value;
}

/** What stands under the name of a secret: one text, or several. */
function withoutSecrets(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return isNoSecret(value) ? redact(value) : mask;
  if (!Array.isArray(value)) return redactTexts(value, depth);
  return value.map((each: unknown) =>
    typeof each === 'string' ? withoutSecrets(each, depth) : redactTexts(each, depth),
  );
}

/**
 * Credentials that a text shows. They are to be hidden wherever else they occur: a command may have printed one without its
 * name. In the text of any program a plain word behind the name of a secret is not a secret yet.
 */
export function secretsInText(text: string, from: 'cluster-file' | 'any'): string[] {
  return spansIn(text)
    .map(([start, end]) => text.slice(start, end))
    .filter((value) => value.length >= 6 && !isPlace(value) && !value.startsWith('-----BEGIN'))
    .filter((value) => from === 'cluster-file' || looksRandom(value));
}

const secretWord =
  /secret|passw(?:or)?d|passphrase|(?<!launch_?)token(?!i[sz])|credential|(?:api|access|account|auth|private|secret|signing|encryption|shared)[_-]?key|client[_-]key[_-]data|docker(?:configjson|cfg)|_pwd$|\w[_-]pass$|^--pass$/i;
/** What stands behind such a word where the name is that of a count, a place or a kind. */
const otherWord =
  /(?:tokens|[_-]?(?:limit|count|type|name|path|file|dir|folder|ttl|timeout|size|length|ur[il]|endpoint|host|port|mode|stdin|required|enabled|version|provider|policy|budget|usage|used))$|expir|[_-]per[_-]|(?:created|updated)[_-]?at$/i;

/** By what a value is called. */
export const isSecretName = (name: string): boolean => secretWord.test(name) && !otherWord.test(name);

/** A variable, a path or an address: where a secret is, or something else altogether. */
export const isPlace = (value: string): boolean => /^(?:[$~/<{[(*]|\w{1,20}:\/\/|\d+\.\d+\.\d+\.\d+)/.test(value);

export const looksRandom = (value: string): boolean => value.length >= 8 && /\d/.test(value);

/** What stands for a secret, or says that there is none. */
export const isNoSecret = (value: string): boolean =>
  /^(?:\*+|\$\w+|\$[({].*|%\w+%|<.*>|\{\{.*|true|false|null|none|undefined|yes|no|\d{1,3})$/is.test(value) ||
  /^(?:\w{1,20}:\/\/|~\/|\.{1,2}\/|\/(?:data|dev|etc|home|mnt|opt|proc|root|run|srv|tmp|Users|usr|var|work)\/)/.test(
    value,
  );

/** What goes on after the name of a secret or of a login in a sentence. */
const proseWord =
  /^(?:again|and|are|as|before|but|by|can|cannot|command|environment|failed|first|for|from|has|if|in|is|may|missing|must|needs|not|of|on|or|required|should|succeeded|the|to|unset|variable|was|when|with)[.,:!?]?$/;
const plainWord = /^[a-z]{1,14}[.,:!?]?$/;
const isPlainWord = (value: string): boolean => plainWord.test(value);

/** Where credentials stand, in order, none of them in another. */
function spansIn(text: string): Span[] {
  const found: Span[] = [];
  for (const rule of rules) rule(text, found);
  if (found.length < 2) return found;
  found.sort(([a, aEnd], [b, bEnd]) => a - b || bEnd - aEnd);
  const apart: Span[] = [];
  for (const [start, end] of found) {
    const [lastStart, lastEnd] = apart.at(-1) ?? [0, -1];
    if (start > lastEnd) apart.push([start, end]);
    else if (end > lastEnd) apart[apart.length - 1] = [lastStart, end];
  }
  return apart;
}

/** Adds what it finds. */
type Rule = (text: string, found: Span[]) => void;

const rules: readonly Rule[] = [
  inUrls,
  underNames,
  inCommands,
  inLogins,
  inNetrc,
  inHeaders,
  inRegistries,
  byShape,
  privateKeys,
];

/** `https://user:password@`, and a token in place of the user. */
function inUrls(text: string, found: Span[]): void {
  const authority = /[^\s/?#"'<>\\]*/y;
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    authority.lastIndex = at + 3;
    const [whole = ''] = authority.exec(text) ?? [];
    const userEnd = whole.lastIndexOf('@');
    if (userEnd <= 0) continue;
    const colon = whole.slice(0, userEnd).indexOf(':');
    const user = whole.slice(0, colon < 0 ? userEnd : colon);
    // A plain name, such as `git@`, is not a secret.
    if (!/^[\w.-]{0,20}$/.test(user) || (user.length >= 12 && /\d/.test(user))) add(found, at + 3, user);
    if (colon >= 0) add(found, at + 4 + colon, whole.slice(colon + 1, userEnd));
  }
}

/** `name=value`, `name: value`, `--name value`, and the signature in a query. */
function underNames(text: string, found: Span[]): void {
  const word = /[\w-]+/g;
  const sign = /\\{0,2}["']?[ \t]{0,20}(?::=|=>|==|[:=])[ \t]{0,20}/y;
  const blank = /[ \t]{1,20}(?=[^\s:=<-])/y;
  const inList = /["']\s{0,20},\s{0,20}(?=["'][^-"'])/y;
  for (let match = word.exec(text); match !== null; match = word.exec(text)) {
    const [name] = match;
    const before = text[match.index - 1] ?? '';
    const inQuery = before === '?' || before === '&' || text.startsWith('&amp;', match.index - 5);
    if (!isSecretName(name) && !(inQuery && isSignature(name))) continue;
    // The user of a URL.
    if (before === '/' && text[match.index - 2] === '/') continue;
    sign.lastIndex = word.lastIndex;
    const isPair = sign.test(text);
    // `["--name", "value"]`
    const behind = name.startsWith('-') && /["']/.test(before) && sticky(inList, text, word.lastIndex) ? inList : blank;
    behind.lastIndex = word.lastIndex;
    if (!isPair && !behind.test(text)) continue;
    const value = valueAt(text, isPair ? sign.lastIndex : behind.lastIndex, inQuery);
    const isWord = (/^aws_/i.test(name) ? proseWord : plainWord).test(value.text);
    const byColon = isPair && text.slice(word.lastIndex, sign.lastIndex).includes(':') && !value.isQuoted;
    const isMeant = isPair ? !byColon || value.text.length > 3 : name.startsWith('-') || (/[_-]/.test(name) && !isWord);
    if (value.text === '' || !isMeant || isNoSecret(value.text)) continue;
    add(found, value.at, value.text);
    word.lastIndex = value.at + value.text.length;
  }
}

const isSignature = (name: string): boolean => /signature$|^(?:sig|hmac|jwt|auth)$/i.test(name);

/** To the closing quote on its line, or to the end of the word. */
function valueAt(text: string, from: number, inQuery: boolean): { at: number; text: string; isQuoted: boolean } {
  const [opening = '', quote] = sticky(/\\{0,2}(["'])/y, text, from) ?? [];
  const at = from + opening.length;
  if (quote !== undefined) {
    const close = closingQuote(text, quote, at, opening.length > 1);
    const line = text.slice(at, close < 0 ? at : close);
    if (line !== '' && !line.includes('\n')) return { at, text: line.replace(/\\{1,2}$/, ''), isQuoted: true };
  }
  const [value = ''] = sticky(inQuery ? /[^\s"',;}&#<>]+/y : /[^\s"',;}]+/y, text, at) ?? [];
  return { at, text: withoutTrailing(value, '\\'), isQuoted: false };
}

const longestQuoted = 4_096;

/** One behind a backslash closes nothing, unless one behind a backslash has opened. */
function closingQuote(text: string, quote: string, from: number, escaped: boolean): number {
  let close = text.indexOf(quote, from);
  if (escaped) return close;
  while (close > from && text[close - 1] === '\\' && close - from < longestQuoted)
    close = text.indexOf(quote, close + 1);
  return close;
}

function sticky(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}

/** What programs take as plain words: found within one command, up to the next. */
const commands: readonly (readonly [names: RegExp, given: RegExp, onlyWith?: RegExp])[] = [
  [
    /^(?:curl|wget|http)$/,
    /\s(?:-[aBfgGiIjJkLlnNOpqRsSv0-9#]{0,12}[uU]|--user|--proxy-user)[ \t=]{0,20}["']?[^\s:"']{0,256}:([^\s"']+)/g,
  ],
  [/^https?$/, /\s(?:-a|--auth)[ \t=]{1,20}["']?[^\s:"']{0,256}:([^\s"']+)/g],
  [/^(?:curl|wget)$/, /\s(?:-b|--cookie)[ \t=]{0,20}["']?([^\s"']*=[^\s"']+)/g],
  [/^(?:docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|az|oc)$/, /\s-p[ \t=]{0,20}["']?([^\s"']+)/g, /\slogin\s/],
  [/^(?:podman|buildah|skopeo)$/, /\s--(?:src-|dest-)?creds[ \t=]{1,20}["']?[^\s:"']{0,256}:([^\s"']+)/g],
  [
    /^(?:wandb|vault)$/,
    /\slogin(?:[ \t]{1,20}(?:--host[ \t]{1,20}\S+|-(?!-host[ \t])\S+)){0,8}[ \t]{1,20}["']?([^\s"'-][^\s"']*)/g,
  ],
  [/^twine$/, /\s-p[ \t]{0,20}["']?([^\s"']+)/g],
  [/^sshpass$/, /\s-p[ \t]{0,20}["']?([^\s"']+)/g],
  [/^(?:mysql|mysqldump|mysqladmin|mariadb)$/, /\s-p["']?([^\s"']+)/g],
  [/^redis-cli$/, /\s-a[ \t]{1,20}["']?([^\s"']+)/g],
  [/^openssl$/, /\spass:([^\s"']+)/g],
  [/^echo$/, /^echo[ \t]{1,20}(?:-n[ \t]{1,20})?["']?([^\s"']+)["']?[ \t]{0,20}$/g],
  [/^printf$/, /^printf[ \t]{1,20}(?:["']?%s(?:\\n)?["']?[ \t]{1,20})?["']?([^\s"'%][^\s"']*)["']?[ \t]{0,20}$/g],
];
const commandWord =
  /(?<![\w./-])(?:\/[\w./-]{0,100}\/)?(curl|wget|https?|docker|podman|nerdctl|buildah|skopeo|helm|oras|crane|az|oc|wandb|vault|twine|sshpass|mysql|mysqldump|mysqladmin|mariadb|redis-cli|openssl|echo|printf)(?=[ \t])/g;

function inCommands(given: string, found: Span[]): void {
  // A command goes on behind a line that ends with a backslash; every character keeps its place.
  const text = given.replace(/\\\r?\n/g, (end) => ' '.repeat(end.length));
  const words = [...text.matchAll(commandWord)];
  for (const [index, match] of words.entries()) {
    const name = match[1] ?? '';
    const start = match.index + match[0].length - name.length;
    const until = words[index + 1]?.index ?? text.length;
    const command = firstCommand(text.slice(start, until));
    const end = start + command.length;
    // What is printed is a secret where it goes to a login.
    const isPrinted = name === 'echo' || name === 'printf';
    if (isPrinted && !isLogin(text.slice(end, end + 400))) continue;
    for (const [names, expression, onlyWith] of commands) {
      if (!names.test(name) || onlyWith?.test(command) === false) continue;
      for (const { 1: word = '', index: at, 0: whole } of command.matchAll(expression)) {
        const from = at + whole.lastIndexOf(word);
        const value = toClosingQuote(command, at, from) ?? word;
        const isProse = name === 'wandb' ? proseWord.test(value) : name === 'wget' && isPlainWord(value);
        if (!isProse) add(found, start + from, value);
      }
    }
  }
}

/** To where the next command begins, outside of quotes. */
function firstCommand(text: string): string {
  const stop = /[\n;|"']|&&/g;
  for (let match = stop.exec(text); match !== null; match = stop.exec(text)) {
    const [sign] = match;
    if (sign !== '"' && sign !== "'") return text.slice(0, match.index);
    const close = text.indexOf(sign, stop.lastIndex);
    if (close >= 0 && !text.slice(stop.lastIndex, close).includes('\n')) stop.lastIndex = close + 1;
  }
  return text;
}

/** What stands in quotes that were opened between two places, from the second on; undefined where none were. */
function toClosingQuote(text: string, opened: number, from: number): string | undefined {
  const quote = /["'](?=[^"']*$)/.exec(text.slice(opened, from))?.[0];
  const close = quote === undefined ? -1 : text.indexOf(quote, from);
  return close < 0 ? undefined : text.slice(from, close);
}

/** Whether it goes on to a program that asks for a password. */
const isLogin = (text: string): boolean =>
  /^\|\s{0,20}(?:sudo\s{1,20})?[^\s|;]{1,100}\s[^\n|;]{0,200}?(?<=\s)(?:login|--password-stdin|--with-token)(?!\S)/.test(
    text,
  );

/** What is handed to a login as its input, and `login(key="…")` of Python. */
function inLogins(text: string, found: Span[]): void {
  for (const each of [
    /\s(?:login|--password-stdin|--with-token)(?=[ \t])[^\n;|<]{0,200}<<<[ \t]{0,20}["']?([^\s"']+)/g,
    /\blogin\([^)\n]{0,200}?\bkey[ \t]{0,20}=[ \t]{0,20}["']([^"'\n]+)/g,
  ])
    for (const { 0: whole, 1: value = '', index } of text.matchAll(each))
      add(found, index + whole.length - value.length, value);
}

/** `machine HOST login NAME password PASSWORD`, on one line or on several, also as a command writes them. */
function inNetrc(given: string, found: Span[]): void {
  const text = given.replace(/\\[nt]/g, '  ');
  const entry =
    /\b(machine\s{1,20}\S{1,256}\s{1,20})?(?:login|account|user)\s{1,20}\S{1,256}\s{1,20}(?:account\s{1,20}\S{1,256}\s{1,20})?password\s{1,20}("[^"\n]+"|\S+)/g;
  const short = /\b(machine\s{1,20}\S{1,256}\s{1,20})password\s{1,20}("[^"\n]+"|\S+)/g;
  for (const each of [entry, short])
    for (const { 0: whole, 1: machine, 2: word = '', index } of text.matchAll(each)) {
      const value = word.startsWith('"') ? word : word.replace(/["']$/, '');
      if (machine !== undefined || !isPlainWord(value)) add(found, index + whole.length - word.length, value);
    }
}

function inHeaders(text: string, found: Span[]): void {
  const bearer = /\b(?:bearer|basic)[ \t]{1,20}([a-z0-9._~+/=-]{8,})/gi;
  for (const { 0: whole, 1: value = '', index } of text.matchAll(bearer))
    if (/^bearer/i.test(whole) || looksRandom(value) || value.endsWith('='))
      add(found, index + whole.length - value.length, value);
  const header =
    /\bauthorization["']?[ \t]{0,20}[:=][ \t]{0,20}["']?(?:(token|[\w-]{1,40})[ \t]{1,20}["']?)?([^\s"',;]+)/gi;
  for (const { 0: whole, 1: scheme, 2: value = '', index } of text.matchAll(header))
    if (scheme?.toLowerCase() === 'token' || !isPlainWord(value))
      add(found, index + whole.length - value.length, value);
  for (const { 0: whole, 1: value = '', index } of text.matchAll(/\bSignature=([0-9a-f]{32,})/g))
    add(found, index + whole.length - value.length, value);
  for (const { 0: whole, 1: value = '', index } of text.matchAll(/\bcookie:[ \t]{0,20}([^\r\n"']+)/gi))
    add(found, index + whole.length - value.length, value);
}

/** `"auth": "…"` of a registry: a user and a password in base64. */
function inRegistries(text: string, found: Span[]): void {
  const entry = /\bauth\\{0,2}["']?[ \t]{0,20}[:=][ \t]{0,20}\\{0,2}["']?([A-Za-z0-9+/]{4,}={0,2})/g;
  for (const { 0: whole, 1: value = '', index } of text.matchAll(entry))
    if (/^[!-9;-~]+:[!-~]+$/.test(Buffer.from(value, 'base64').toString('latin1')))
      add(found, index + whole.length - value.length, value);
}

/** Tokens that say by themselves what they are. */
const shapes = new RegExp(
  [
    '(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16,}',
    'gh[pousr]_[A-Za-z0-9]{16,}',
    'github_pat_\\w{20,}',
    'gl(?:pat|ptt|dt|rt)-[\\w-]{16,}',
    'hf_[A-Za-z0-9]{16,}',
    'sk-[\\w-]{20,}',
    '[sr]k_(?:live|test)_\\w{16,}',
    'xox[abeoprs]-[\\w-]{10,}',
    'AIza[\\w-]{30,}',
    'ya29\\.[\\w-]{16,}',
    '1//0[\\w-]{20,}',
    'npm_[A-Za-z0-9]{30,}',
    'pypi-[\\w-]{30,}',
    'dckr_pat_[\\w-]{16,}',
    'hv[sb]\\.[\\w-]{20,}',
    'SG\\.[\\w-]{16,}\\.[\\w-]{16,}',
    'do[opr]_v1_[0-9a-f]{32,}',
    '(?<=hooks\\.slack\\.com/services/)[\\w/]{20,}',
    'eyJ[\\w-]{8,}\\.[\\w-]{8,}(?:\\.[\\w-]*)?',
  ]
    .map((each) => `(?:${each})`)
    .join('|')
    .replace(/^(.*)$/s, '(?<![A-Za-z0-9])(?:$1)'),
  'g',
);

function byShape(text: string, found: Span[]): void {
  for (const { 0: whole, index } of text.matchAll(shapes)) add(found, index, whole);
}

/** One that is cut off is hidden to the end of the text. */
function privateKeys(text: string, found: Span[]): void {
  const begin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
  const end = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
  for (let match = begin.exec(text); match !== null; match = begin.exec(text)) {
    end.lastIndex = begin.lastIndex;
    const closed = end.exec(text) !== null;
    const stop = closed ? end.lastIndex : text.length;
    found.push([match.index, stop]);
    begin.lastIndex = stop;
  }
}

const add = (found: Span[], at: number, value: string): void => {
  if (value !== '' && !/^\*+$/.test(value) && !/^\$\{?\w+\}?$/.test(value)) found.push([at, at + value.length]);
};
