/** Artifact Registry and what came before it, where an image is there: `us-docker.pkg.dev`. */
export const googleRegistryOf = (image: string): string | undefined =>
  /^(?:[a-z0-9-]+-docker\.pkg\.dev|(?:[a-z]+\.)?gcr\.io)(?=\/)/.exec(image)?.[0];
