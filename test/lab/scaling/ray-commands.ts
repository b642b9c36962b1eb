import { quickDeath, smallRay } from '../cluster-bed.ts';

/** CPUs come from the node type. */
const small = smallRay.replace(/--num-cpus=\d+ /, '');

/** How long a worker may be idle, in seconds. */
export const idleTimeout = 2;

/**
 * Commands of both beds. Each worker asks the turnstile whether its set-up may work and whether Ray may be started; one
 * that is refused its start ends well and without a node.
 */
export const commands = (turnstile: string): object => ({
  worker_setup_commands: [`curl -fsS ${turnstile}/knob/setup/$(hostname)`],
  head_start_ray_commands: ['ray stop', `${quickDeath} ray start --head --port=6379 --num-cpus=0 ${small}`],
  worker_start_ray_commands: [
    'ray stop',
    `if curl -fsS ${turnstile}/knob/start/$(hostname); then ray start --address=$RAY_HEAD_IP:6379 ${small}; fi`,
  ],
});
