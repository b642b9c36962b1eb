import type { Ground, GroundEdges } from './ground.ts';

export async function rayGround(_: GroundEdges): Promise<Ground> {
  throw new Error('to come');
}
