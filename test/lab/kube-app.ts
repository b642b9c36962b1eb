/** An application like the one of Aana's guide: the same file, names and routes, with models that need nothing. */
import { createWriteStream, existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import yazl from 'yazl';

const printed = fileURLToPath(
  new URL('../../../shared/corpus/kube/rayservice__aana_sdk__cluster_setup-full.yaml', import.meta.url),
);

/** Where the manifest of the guide is, as it is printed there. */
export const aanaPrinted = existsSync(printed) ? printed : undefined;

/** What a deployment answers: who it is, its settings, and what its cluster's pods were given. */
const appConfig = `
import os
from ray import serve

class Base:
    def __init__(self):
        self.config = {}

    def reconfigure(self, config):
        self.config = config

    async def __call__(self, request):
        return {"app": self.app, "path": request.url.path, "config": self.config, "mark": os.environ.get("MARK", "")}

@serve.deployment
class WhisperDeployment(Base):
    app = "asr"

@serve.deployment
class VadDeployment(Base):
    app = "vad"

@serve.deployment
class RequestHandler(Base):
    app = "main"

asr_deployment = WhisperDeployment.bind()
vad_deployment = VadDeployment.bind()
whisper_app = RequestHandler.bind()
`;

export interface AppAnswer {
  readonly app: string;
  readonly config: Readonly<Record<string, string>>;
  readonly mark: string;
}

export const aanaRoutes = ['/asr_deployment', '/vad_deployment', '/'];

/** Writes the zip that stands in the manifest as `working_dir`. */
export async function writeApp(file: string): Promise<void> {
  const zip = new yazl.ZipFile();
  zip.addBuffer(Buffer.from(''), 'project/test_project/__init__.py');
  zip.addBuffer(Buffer.from(appConfig), 'project/test_project/app_config.py');
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(file));
}

export interface Sizes {
  readonly name?: string;
  readonly image: string;
  /** Address of the zip. */
  readonly zip: string;
  /** What the handlers are told: changes in place. */
  readonly model?: string;
  readonly replicas?: number;
  /** What the pods are told: changes with a new cluster. */
  readonly mark?: string;
  readonly workers?: number;
}

/** The manifest of the guide with image, sizes and zip of the lab. */
export function aanaManifest(from: string, sizes: Sizes): string {
  const { name = 'aana', image, zip, model = 'tiny', replicas = 1, mark = 'one', workers = 1 } = sizes;
  return from
    .replace(/^ {2}name: aana-sdk$/m, `  name: ${name}`)
    .replaceAll(/https:\/\/\S+\.zip/g, zip)
    .replaceAll(/model_size: \S+/g, `model_size: ${model}`)
    .replaceAll(/num_cpus: 1\.0/g, 'num_cpus: 0.1')
    .replace(/(WhisperDeployment\s+num_replicas:) 1/, `$1 ${replicas}`)
    .replace(/rayVersion: '[\d.]+'/, "rayVersion: '2.60.0'")
    .replaceAll(/image: \S+/g, `image: ${image}\n            env: [{name: MARK, value: ${mark}}]`)
    .replaceAll(/limits:\n\s+cpu: \S+\n\s+memory: \S+\n\s+ephemeral-storage: \S+/g, 'limits: {memory: 3Gi}')
    .replaceAll(
      /requests:\n\s+cpu: \S+\n\s+memory: \S+\n\s+ephemeral-storage: \S+/g,
      'requests: {cpu: 200m, memory: 1Gi}',
    )
    .replace(/rayStartParams: \{\}/, "rayStartParams: {num-cpus: '1'}")
    .replace(/- replicas: 1\n(\s+)minReplicas: 1/, `- replicas: ${workers}\n$1minReplicas: ${workers}`);
}
