import type { PlainMap } from '../core/spec/cluster.ts';

/** Parts of what Ray fills in for its providers. */

/** Files and synchronisation: nothing, for every provider. */
export const noFiles: PlainMap = {
  file_mounts: {},
  cluster_synced_files: [],
  file_mounts_sync_continuously: false,
  rsync_exclude: [],
  rsync_filter: [],
};

export const noSetup: PlainMap = {
  initialization_commands: [],
  setup_commands: [],
  head_setup_commands: [],
  worker_setup_commands: [],
};

/** Where `ray up` leaves the file on the head. */
export const bootstrapFile = '~/ray_bootstrap_config.yaml';
