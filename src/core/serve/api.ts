/** Serve's REST API, on the dashboard of Ray. With the slash at the end: without it Ray answers 404. */
export const servePath = '/api/serve/applications/';
