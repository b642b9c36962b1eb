/** How the one packer and the rules around it decide. Two values exist; nothing else branches on "Ray". */
export interface Policy {
  /** Equal candidates: by order in the file (`manta`), or exactly as Ray's stable sort over its input leaves them (`ray`). */
  readonly like: 'manta' | 'ray';
}

export const manta: Policy = { like: 'manta' };
export const ray: Policy = { like: 'ray' };
