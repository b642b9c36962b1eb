/**
 * What a head pod of KubeRay runs in the place of Ray's autoscaler: it makes the state folder, and stays with it as the supervisor of
 * mantad. Started by `ray` of `src/kube/scaler.ts`: `node kube.js kuberay-autoscaler --cluster-name NAME --cluster-namespace NAMESPACE`.
 */
import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { mantadPort } from '../../core/kube/scaling-spec.ts';
import { createCluster, readCluster } from '../../state/cluster-record.ts';
import { stateFolder, stateHome } from '../../state/state-folder.ts';
import { followFile } from './follow-file.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: { 'cluster-name': { type: 'string' }, 'cluster-namespace': { type: 'string' } },
});
const { 'cluster-name': name, 'cluster-namespace': namespace } = values;
if (positionals[0] !== 'kuberay-autoscaler' || typeof name !== 'string' || typeof namespace !== 'string')
  throw new Error('usage: kube kuberay-autoscaler --cluster-name NAME --cluster-namespace NAMESPACE');

const home = stateHome(process.env);
const folder = stateFolder(home, name);
if (readCluster(folder) === undefined)
  createCluster(folder, {
    role: 'this-machine',
    engine: 'ray',
    createdAt: Date.now(),
    port: mantadPort,
    kube: { namespace, name },
  });
// `kubectl logs` shows what mantad writes to its log.
followFile(folder.files.daemonLog, (text) => void writeSync(1, text));
process.argv.splice(2, Number.POSITIVE_INFINITY, home, name);
await import('../supervisor.ts');
