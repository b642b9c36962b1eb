// needs: cluster

import { providerContract } from '../../contract/provider-contract.ts';
import { TestCluster } from '../../engines/embedded/cluster.ts';

providerContract('process', async (t) => {
  const cluster = new TestCluster(t);
  return {
    type: 'small',
    provider: () => cluster.makeProvider(),
    refusing: (refuse) => cluster.makeProvider([{ refuse, times: 1 }]),
    limited: (capacity) => cluster.makeProvider([{ capacity }]),
    losingAnswer: () => cluster.makeProvider([{ loseAnswer: true, times: 1 }]),
  };
});
