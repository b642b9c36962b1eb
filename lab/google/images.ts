/** Images that others offer to everybody. */

export interface Image {
  readonly project: string;
  readonly name: string;
  readonly family?: string | undefined;
  readonly gib: number;
  readonly arm: boolean;
  readonly createdAt: number;
}

const created = Date.UTC(2026, 9, 20);
const offered = (project: string, name: string, family: string, gib: number, arm = false): Image => ({
  ...{ project, name, family, gib, arm, createdAt: created },
});

const releases: Readonly<Record<string, string>> = {
  '1604': 'xenial-v20211001',
  '1804': 'bionic-v20240116a',
  '2004': 'focal-v20260821',
  '2204': 'jammy-v20261014',
};
const learning = (family: string, gib: number): Image =>
  offered('deeplearning-platform-release', `${family}-v20261001`, family, gib);

export const publicImages: readonly Image[] = [
  ...Object.entries(releases).map(([version, name]) =>
    offered('ubuntu-os-cloud', `ubuntu-${version}-${name}`, `ubuntu-${version}-lts`, 10),
  ),
  offered('ubuntu-os-cloud', 'ubuntu-2404-noble-amd64-v20261014', 'ubuntu-2404-lts-amd64', 10),
  offered('ubuntu-os-cloud', 'ubuntu-2404-noble-arm64-v20261014', 'ubuntu-2404-lts-arm64', 10, true),
  offered('debian-cloud', 'debian-12-bookworm-v20261010', 'debian-12', 10),
  offered('debian-cloud', 'debian-11-bullseye-v20261010', 'debian-11', 10),
  offered('debian-cloud', 'debian-10-buster-v20240701', 'debian-10', 10),
  offered('debian-cloud', 'debian-9-stretch-v20220621', 'debian-9', 10),
  offered('rocky-linux-cloud', 'rocky-linux-9-v20261010', 'rocky-linux-9', 20),
  offered('cos-cloud', 'cos-121-18867-199-52', 'cos-stable', 10),
  ...['common-cpu', 'tf-1-13-cpu', 'tf-latest-cpu', 'tf2-latest-cpu', 'pytorch-latest-cpu'].map((family) =>
    learning(family, 50),
  ),
  ...[92, 100, 101, 110, 113, 115, 116, 118, 121, 122, 123, 124, 128, 129].map((cuda) =>
    learning(`common-cu${cuda}`, 50),
  ),
  ...['tf-1-13-cu100', 'tf-latest-gpu', 'tf2-latest-gpu', 'pytorch-latest-gpu', 'common-gpu'].map((family) =>
    learning(family, 50),
  ),
  { ...learning('common-cpu', 50), name: 'common-cpu-v20240922', createdAt: Date.UTC(2024, 8, 22), family: undefined },
  offered('ml-images', 'c0-deeplearning-common-cu121-v20231209-debian-11', 'c0-common-cu121', 50),
  offered('ml-images', 'tf-1-12-gpu-v20190122', 'tf-1-12-gpu', 30),
];

/** Projects that publish images for everybody. */
export const publishers: ReadonlySet<string> = new Set(publicImages.map(({ project }) => project));
