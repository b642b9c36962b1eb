import type { ProviderFacts } from '../../core/spec/provider-facts.ts';
import { aliyun } from './aliyun.ts';
import { azure } from './azure.ts';
import { external } from './external.ts';
import { kuberay } from './kuberay.ts';
import { fakeMultinode, fakeMultinodeDocker, readonlyCluster } from './managed.ts';
import { removedProviders } from './removed.ts';
import { vsphere } from './vsphere.ts';

/**
 * Provider types that Ray has, or had, and that Manta does not run: their files are read, checked and converted. One that
 * Manta learns to run moves into a folder of its own.
 */
export const notRun: readonly ProviderFacts[] = [
  azure,
  external,
  aliyun,
  vsphere,
  kuberay,
  readonlyCluster,
  fakeMultinode,
  fakeMultinodeDocker,
  ...removedProviders,
];
