/** `ray start`, with options between the two words or without. */
function hasRayStart(command: string): boolean {
  let afterRay = false;
  for (const word of command.split(/\s+/)) {
    if (afterRay && /^start\b/.test(word)) return true;
    afterRay = (afterRay && word.length > 1 && word.startsWith('-')) || /\bray$/.test(word);
  }
  return false;
}

// Ways to start Ray that go past the shell function `ray`; some of them past the environment too.
const goesPast = [
  /\bsudo\b/,
  /\S\/ray\s/,
  /\b(?:poetry|uv|pipenv|conda|pdm|hatch)\s+run\b/,
  /\b(?:nohup|setsid|env|exec|command|timeout|xargs|su)\s/,
  /\bsh\s+-c\b/,
];

/** The start command that a wrongly started Ray most likely came from. */
export function offendingCommand(commands: readonly string[]): string {
  const starting = commands.filter(hasRayStart);
  return (
    starting.find((command) => goesPast.some((way) => way.test(command))) ?? starting.at(-1) ?? commands.at(-1) ?? ''
  );
}
