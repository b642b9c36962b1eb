import type { Json, JsonMap } from '../kube/object.ts';

/** Serve's REST API of one cluster, whichever way it is reached. */
export interface ServeApi {
  /** `GET /api/serve/applications/`; everything is empty where Serve does not run. */
  details(): Promise<Json>;
  /** Replaces all applications. Returns when Serve has taken the config, not when it runs. */
  deploy(config: JsonMap): Promise<void>;
  /** Ends all applications and Serve itself. */
  shutdown(): Promise<void>;
}

export const servePath = '/api/serve/applications/';
