// needs: strace
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Disk, keyOf, layOut, type Tree } from './disk.ts';
import { type DiskStep, record } from './record.ts';
import { type Scenario, scenarios } from './scenarios.ts';

const program = fileURLToPath(new URL('./scenarios.ts', import.meta.url));

/** The disk is a model: where its files lie meanwhile does not matter, and memory is quick. */
const memory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** What is seen of the steps of a scenario in a state of the disk, or why it is no state that may be. Each state is looked at once. */
class Eyes {
  readonly #scenario: Scenario;
  readonly #folder: string;
  readonly #known = new Map<string, number | string>();

  constructor(scenario: Scenario, folder: string) {
    this.#scenario = scenario;
    this.#folder = folder;
  }

  async look(tree: Tree): Promise<number | string> {
    const key = keyOf(tree);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    layOut(tree, this.#folder);
    const seen = await Promise.resolve()
      .then(() => this.#scenario.seen(this.#folder))
      .catch((error: unknown) => (error as Error).message);
    this.#known.set(key, seen);
    return seen;
  }
}

/** The first power cut after which a step is missing that was acknowledged, or is there in part. */
async function firstLoss(root: string, steps: readonly DiskStep[], eyes: Eyes): Promise<string | undefined> {
  const disk = new Disk(root);
  let done = 0;
  let begun = false;
  for (const [index, step] of steps.entries()) {
    if (step.kind !== 'said') disk.take(step);
    else if (step.line === 'done') done += 1;
    else {
      disk.settle();
      begun = true;
    }
    if (!begun) continue;
    for (const tree of disk.afterPowerCut()) {
      const seen = await eyes.look(tree);
      if (seen !== done && seen !== done + 1)
        return `after step ${index} (${words(step, root)}), ${done} acknowledged: sees ${seen} in ${[...tree.keys()].join(' ')}`;
    }
  }
  assert.ok(done > 0, 'no step was acknowledged');
  return undefined;
}

function words(step: DiskStep, root: string): string {
  const { kind, ...rest } = step;
  return `${kind} ${Object.values(rest)
    .filter((value) => typeof value === 'string')
    .join(' ')
    .replaceAll(`${root}/`, '')}`;
}

for (const [name, scenario] of Object.entries(scenarios))
  describe(name, () => {
    const folder = realpathSync(mkdtempSync(join(memory, 'manta-power-')));
    const [root, aside] = [join(folder, 'disk'), join(folder, 'aside')];
    const eyes = new Eyes(scenario, join(folder, 'seen'));
    let steps: readonly DiskStep[] = [];
    before(() => {
      for (const each of [root, aside]) mkdirSync(each);
      steps = record([process.execPath, program, name, root, aside], root, join(folder, 'trace'));
    });
    after(() => rmSync(folder, { recursive: true }));

    test('survives a power cut at any moment, in its old state or its new one', async () => {
      assert.equal(await firstLoss(root, steps, eyes), undefined);
    });

    test('would not without any single one of its syncs', async () => {
      const from = steps.findIndex((step) => step.kind === 'said');
      const syncs = steps.flatMap((step, index) =>
        (step.kind === 'sync' || step.kind === 'sync-all') && index > from ? [index] : [],
      );
      assert.notEqual(syncs.length, 0);
      for (const index of syncs)
        assert.notEqual(
          await firstLoss(root, steps.toSpliced(index, 1), eyes),
          undefined,
          `nothing is lost without step ${index}, ${words(steps[index] as DiskStep, root)}`,
        );
    });
  });
