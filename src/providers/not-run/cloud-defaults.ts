import { bootstrapFile } from '../ray-defaults.ts';

/** Parts of what Ray fills in for its clouds. */

export const cloudLimits = {
  cluster_name: 'default',
  max_workers: 2,
  upscaling_speed: 1,
  docker: {},
  idle_timeout_minutes: 5,
} as const;

export const cloudStart = {
  head_start_ray_commands: [
    'ray stop',
    `ulimit -n 65536; ray start --head --port=6379 --object-manager-port=8076 --autoscaling-config=${bootstrapFile} --dashboard-host=0.0.0.0`,
  ],
  worker_start_ray_commands: [
    'ray stop',
    'ulimit -n 65536; ray start --address=$RAY_HEAD_IP:6379 --object-manager-port=8076',
  ],
} as const;

/** Ray's own setup line: the nightly wheel for one version of Python, unless some Ray is there. */
export const installRay = (python: string): string =>
  `which ray || pip install -U "ray[default] @ https://s3-us-west-2.amazonaws.com/ray-wheels/latest/ray-3.0.0.dev0-${python}-manylinux2014_x86_64.whl"`;

export const putOnPath = (test: string, folder: string): string =>
  `(stat ${test} &> /dev/null && echo 'export PATH="${folder}:$PATH"' >> ~/.bashrc) || true`;
