/** Addresses of Google's APIs, and the links by which they name things. */

/** By its address: a name may be another's. */
export const metadataUrl = 'http://169.254.169.254/computeMetadata/v1';

export const computeApi = 'https://compute.googleapis.com/compute/v1';
export const tpuApi = 'https://tpu.googleapis.com/v2';

export const computeUrl = (project: string, path: string): string => `${computeApi}/projects/${project}/${path}`;
export const tpuUrl = (path: string): string => `${tpuApi}/${path}`;

/** The last part of a link, whether it is whole, partial or a name alone. */
export const lastOf = (link: string): string => link.slice(link.lastIndexOf('/') + 1);

/** Zones are `us-central1-a`, and `us-central1-ai1a` where there are accelerators alone. */
export const regionOfZone = (zone: string): string => zone.slice(0, zone.lastIndexOf('-'));

/** What a link to a thing of a zone becomes in another one. */
export const inZone = (zone: string, collection: string, link: string): string =>
  `zones/${zone}/${collection}/${lastOf(link)}`;
