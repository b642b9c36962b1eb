/** A container of a pod, or its first one. */
export interface PodName {
  readonly namespace: string;
  readonly pod: string;
  readonly container?: string | undefined;
}

export const podPath = ({ namespace, pod }: PodName): string =>
  `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
