interface Banned {
  readonly phrase: RegExp;
  readonly write: string;
}

/** Not English in any place, so sources are searched line by line too. */
export const everywhere: readonly Banned[] = [
  { phrase: /\banew\b/i, write: 'again' },
  { phrase: /\bwhoever\b/i, write: 'anyone who' },
  { phrase: /\bfor ray's sake\b/i, write: 'accepted for compatibility with `ray`; has no effect' },
  { phrase: /\bbehind `?--/, write: 'after `--`' },
  { phrase: /\bparted by\b/i, write: 'comma-separated' },
  { phrase: /\bwhich is no\b(?! longer)/i, write: 'which is not a' },
  { phrase: /\b\w+ of today\b/i, write: 'current …' },
  { phrase: /\btime to come\b/i, write: 'time in the future' },
  { phrase: /\bgo(?:es)? on costing\b/i, write: 'you keep paying for' },
  { phrase: /\blets? in\b|\bletting in\b/i, write: 'allow, accept' },
  { phrase: /\bin vain\b/i, write: 'without success, or say what did not happen' },
  { phrase: /\bfor ever\b/i, write: 'forever' },
  { phrase: /\bspeaks? to\b/i, write: 'talks to' },
];

/** Phrases that read as if translated, each with what to write. Held on pages by a test; style is in CONTRIBUTING.md. */
export const bannedPhrases: readonly Banned[] = [
  ...everywhere,
  {
    phrase: /\b(?:who|what|which)(?:so)?ever (?:has|is|may|can|reaches|wants|asks|runs|finds)\b/i,
    write: 'anyone who, if',
  },
  { phrase: /\bthe \w+ of (?:now|today)\b/i, write: 'the current …' },
  { phrase: /\bof (?:one's|its|their|his) own accord\b/i, write: 'by itself' },
  { phrase: /\bbut for (?:those|the|that|its)\b/i, write: 'except' },
  { phrase: /\b(?:time|version|state)s? to come\b/i, write: 'in the future' },
  { phrase: /\bthe way onto\b/i, write: 'how to reach' },
  { phrase: /\bknows no\b/i, write: 'does not know, has no' },
  { phrase: /\bholds? nobody up\b/i, write: 'delays nothing' },
  { phrase: /\bfor nobody\b/i, write: 'not for anyone' },
  { phrase: /\b(?:some|every)body\b/i, write: 'someone, everyone' },
  { phrase: /\bmends?\b(?!`)/i, write: 'fix' },
  { phrase: /\blapses?\b/i, write: 'expires' },
  { phrase: /\bswitch(?:es)? (?:it|itself) off\b/i, write: 'powers itself off' },
  { phrase: /\btells? no\b/i, write: 'does not return, does not say' },
  { phrase: /\bof yours\b/i, write: 'your own …' },
  { phrase: /\b(?:told|tells?) of\b/i, write: 'reports, is told about' },
  { phrase: /\bset-up\b/i, write: 'setup' },
];
