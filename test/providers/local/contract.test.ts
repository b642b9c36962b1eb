import { providerContract } from '../../contract/provider-contract.ts';
import { HostBed, ownHost, type } from './stand-in-hosts.ts';

providerContract(
  'local',
  async (t) => {
    const bed = new HostBed(t, 6);
    return {
      type,
      provider: () => bed.provider(),
      refusing: (kind) => {
        if (kind === 'denied') return bed.provider({ pools: () => [] });
        return bed.provider({
          connect: (host) => ({
            ...bed.host(host.name).as(),
            connect: () => Promise.reject(new Error('Connection refused')),
          }),
        });
      },
      limited: (count) => bed.provider({ pools: () => [{ type, hosts: bed.hosts.slice(0, count).map(ownHost) }] }),
      losingAnswer: () => {
        // Of the two tries of each claim.
        for (const host of bed.hosts) host.loseAnswers = 2;
        return bed.provider();
      },
    };
  },
  ['no-capacity', 'denied'],
  { addresses: ['inside'] },
);
