import { dig, type Json, listAt, textAt } from './object.ts';

/**
 * Whether KubeRay's operator is the only one beside `manager` who owns parts of the spec. It adds a finalizer by writing the
 * whole object, with every default filled in, and owns all lists of the spec from then on: nobody asked it to, and nothing
 * is lost when it no longer does.
 */
export function isOperatorsAlone(object: Json | undefined, manager: string): boolean {
  const owners = listAt(object, 'metadata', 'managedFields')
    .filter((entry) => !textAt(entry, 'subresource') && dig(entry, 'fieldsV1', 'f:spec') !== undefined)
    .map((entry) => textAt(entry, 'manager') ?? '');
  return owners.includes('kuberay-operator') && owners.every((each) => each === manager || each === 'kuberay-operator');
}
