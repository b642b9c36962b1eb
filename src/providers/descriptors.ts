/** The providers that Manta runs clusters on, a line for each. */
export { aws } from './aws/descriptor.ts';
export { gcp } from './google/descriptor.ts';
export { labCloud } from './lab-cloud/descriptor.ts';
export { local } from './local/descriptor.ts';
export { process } from './process/descriptor.ts';
