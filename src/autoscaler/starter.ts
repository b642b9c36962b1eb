import type { ProviderInstance } from '../providers/provider.ts';

/** Brings one machine from its first answer to a node of the engine. */
export interface NodeStarter {
  /**
   * Resolves when everything that starts the node has been done; that the node runs is for the engine to say.
   * Rejects when the machine cannot be used. May be called again for a machine whose start was cut short.
   * After an abort it settles only when nothing of it is still at work on the machine.
   */
  bringUp(instance: ProviderInstance, signal: AbortSignal): Promise<void>;

  /**
   * Ends what an earlier `bringUp`, perhaps of a process that has died, may have left at work on a machine. Resolves when
   * nothing of it is left: from then on no node comes up there. A machine that does not answer is an error.
   */
  halt(providerId: string, signal: AbortSignal): Promise<void>;
}
