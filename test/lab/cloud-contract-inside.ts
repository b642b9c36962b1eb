/** Runs on the laptop of a lab: the contract of providers, against real machines. `CLOUD` is the cloud's address. */
import { CloudAdmin } from '../../lab/cloud/admin.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { providerContract } from '../contract/provider-contract.ts';
import { badDay, onlyRoom, providerOf } from '../providers/lab-cloud/cloud-bed.ts';

const endpoint = process.env['CLOUD'] ?? '';
const admin = new CloudAdmin(endpoint, process.env['CLOUD_ADMIN_TOKEN'] ?? '');
let accounts = 0;

providerContract(
  'lab cloud, on real machines, on a bad day',
  async (t) => {
    const account = `contract-${accounts++}`;
    const token = await admin.open(account);
    await admin.set(badDay.settings);
    await admin.fault(...badDay.faults);
    t.after(async () => {
      await admin.calm();
      await admin.empty(account);
    });
    const provider = (): Provider => providerOf({ endpoint, token, keepsStopped: true });
    /** Turns the knob just before the launch that it is for. */
    const troubled = (turn: () => Promise<void>): Provider => {
      const plain = provider();
      let turned: Promise<void> | undefined;
      return {
        list: (signal) => plain.list(signal),
        terminate: (ids, signal) => plain.terminate(ids, signal),
        tag: (id, tags, signal) => plain.tag(id, tags, signal),
        launch: async (request, signal) => {
          await (turned ??= turn());
          return plain.launch(request, signal);
        },
      };
    };
    return {
      type: 'worker',
      provider,
      refusing: (kind) =>
        troubled(() => admin.fault({ fault: kind === 'throttled' ? 'throttle' : kind, call: 'launch', times: 1 })),
      limited: (count) => troubled(() => admin.set({ capacity: onlyRoom(count) })),
      losingAnswer: () => troubled(() => admin.fault({ fault: 'lost-answer', call: 'launch', times: 1 })),
    };
  },
  undefined,
  { addresses: ['inside'], slices: true, stops: true },
);
