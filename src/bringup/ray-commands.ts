const startsRay = /\bray\s+(?:-\S+\s+)*start\b/;

// Ways to start Ray that go past the shell function `ray`; some of them past the environment too.
const goesPast =
  /\bsudo\b|\S\/ray\s|\b(?:poetry|uv|pipenv|conda|pdm|hatch)\s+run\b|\b(?:nohup|setsid|env|exec|command|timeout|xargs|su)\s|\bsh\s+-c\b/;

/** The start command that a wrongly started Ray most likely came from. */
export function offendingCommand(commands: readonly string[]): string {
  const starting = commands.filter((command) => startsRay.test(command));
  return starting.find((command) => goesPast.test(command)) ?? starting.at(-1) ?? commands.at(-1) ?? '';
}
