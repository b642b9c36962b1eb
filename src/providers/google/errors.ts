import { defineError } from '../../base/errors.ts';
import type { Path } from '../../core/spec/problem.ts';
import { pathText } from '../../core/spec/problems.ts';

export const googleErrors = {
  NoLogin: defineError<{ detail: string }>({
    code: 'MANTA_GOOGLE_NO_LOGIN',
    exit: 5,
    message: (e) => `there are no usable Google Cloud credentials: ${e.detail}`,
    hint: () =>
      "run 'gcloud auth application-default login', or set GOOGLE_APPLICATION_CREDENTIALS to the key file of a service account",
  }),
  LoginExpired: defineError<{ detail: string }>({
    code: 'MANTA_GOOGLE_LOGIN_EXPIRED',
    exit: 5,
    message: (e) => `your Google Cloud login is no longer valid: ${e.detail}`,
    hint: () => "run 'gcloud auth application-default login', then repeat the command",
  }),
  CredentialsExpire: defineError({
    code: 'MANTA_GOOGLE_CREDENTIALS_EXPIRE',
    exit: 2,
    message: () =>
      'provider.gcp_credentials contain an access token, which expires within an hour: the head would soon be unable to launch or terminate instances',
    hint: () =>
      'remove gcp_credentials, so that the head uses its own service account, or write the key of a service account (type: service_account)',
  }),
  BadCredentials: defineError<{ problem: string }>({
    code: 'MANTA_GOOGLE_BAD_CREDENTIALS',
    exit: 2,
    message: (e) => `provider.gcp_credentials ${e.problem}`,
    hint: () => 'write type: service_account with the text of a key file as credentials, or remove gcp_credentials',
  }),
  Protected: defineError<{ ids: readonly string[]; detail: string }>({
    code: 'MANTA_GOOGLE_PROTECTED',
    exit: 1,
    message: (e) => `cannot terminate ${e.ids.join(', ')}: ${e.detail}`,
    hint: () =>
      "run 'gcloud compute instances update NAME --no-deletion-protection' for the instance, then `manta down` again",
  }),
};

/** A place in the cluster file, whose text tells the line. */
interface InFile {
  at: Path;
}

const choice = (instead: readonly string[], otherwise: string): string =>
  instead.length > 0 ? `use one that is offered, such as ${instead.join(', ')}` : otherwise;

/** What preparing a cluster is refused for. */
export const preparationErrors = {
  BadFile: defineError<InFile & { problem: string; hint?: string }>({
    code: 'MANTA_GOOGLE_BAD_FILE',
    exit: 2,
    message: (e) => `${pathText(e.at)} ${e.problem}`,
    hint: (e) => e.hint ?? 'correct the cluster file',
  }),
  NoProject: defineError<{ project?: string | undefined; detail?: string }>({
    code: 'MANTA_GOOGLE_NO_PROJECT',
    exit: 2,
    message: (e) =>
      e.project === undefined
        ? 'provider.project_id is not set, and the Google credentials name no project'
        : `project '${e.project}' does not exist, or you have no access to it${e.detail ? `: ${e.detail}` : ''}`,
    hint: (e) =>
      e.project === undefined
        ? "set provider.project_id, or run 'gcloud config set project PROJECT'"
        : 'correct provider.project_id, or ask for access to the project; Manta never creates projects',
  }),
  ServiceDisabled: defineError<{ service: string; project: string }>({
    code: 'MANTA_GOOGLE_SERVICE_DISABLED',
    exit: 5,
    message: (e) => `the API ${e.service} is not enabled in project ${e.project}`,
    hint: (e) => `run 'gcloud services enable ${e.service} --project ${e.project}', then repeat the command`,
  }),
  MissingPermission: defineError<{ permission: string; resource?: string | undefined; call: string }>({
    code: 'MANTA_GOOGLE_MISSING_PERMISSION',
    exit: 5,
    message: (e) =>
      `you lack the permission ${e.permission}${e.resource ? ` on ${e.resource}` : ''}, which '${e.call}' needs`,
    hint: () =>
      'ask an administrator for a role that has it; `manta cloud policy FILE` prints all that a cluster file needs',
  }),
  ZoneOutside: defineError<InFile & { zone: string; region: string; zones: readonly string[] }>({
    code: 'MANTA_GOOGLE_ZONE_OUTSIDE',
    exit: 2,
    message: (e) => `${pathText(e.at)}: zone '${e.zone}' is not in region ${e.region}`,
    hint: (e) => `zones of the region: ${e.zones.join(', ')}`,
  }),
  UnknownRegion: defineError<InFile & { region: string; instead: readonly string[] }>({
    code: 'MANTA_GOOGLE_UNKNOWN_REGION',
    exit: 2,
    message: (e) => `${pathText(e.at)}: Google has no region '${e.region}'`,
    hint: (e) => choice(e.instead, "list them with 'gcloud compute regions list'"),
  }),
  UnknownMachine: defineError<InFile & { machine: string; zones: readonly string[]; instead: readonly string[] }>({
    code: 'MANTA_GOOGLE_UNKNOWN_MACHINE',
    exit: 2,
    message: (e) => `${pathText(e.at)}: ${e.zones.join(', ')} does not offer machine type '${e.machine}'`,
    hint: (e) => choice(e.instead, 'use a machine type that the zone offers, or another zone'),
  }),
  UnknownAccelerator: defineError<
    InFile & { accelerator: string; zones: readonly string[]; instead: readonly string[] }
  >({
    code: 'MANTA_GOOGLE_UNKNOWN_ACCELERATOR',
    exit: 2,
    message: (e) => `${pathText(e.at)}: ${e.zones.join(', ')} does not offer accelerator '${e.accelerator}'`,
    hint: (e) => choice(e.instead, 'use another zone, or another accelerator'),
  }),
  UnknownRuntime: defineError<InFile & { version: string; zones: readonly string[]; instead: readonly string[] }>({
    code: 'MANTA_GOOGLE_UNKNOWN_RUNTIME',
    exit: 2,
    message: (e) => `${pathText(e.at)}: ${e.zones.join(', ')} does not list the TPU runtime version '${e.version}'`,
    hint: (e) => choice(e.instead, 'use a runtime version that the zone lists'),
  }),
  NoImage: defineError<InFile & { image: string }>({
    code: 'MANTA_GOOGLE_NO_IMAGE',
    exit: 2,
    message: (e) => `${pathText(e.at)}: image '${e.image}' does not exist, or you have no access to it`,
    hint: () => "list images with 'gcloud compute images list', and families with '--show-deprecated'",
  }),
  OtherArchitecture: defineError<InFile & { image: string; images: string; machine: string; machines: string }>({
    code: 'MANTA_GOOGLE_OTHER_ARCHITECTURE',
    exit: 2,
    message: (e) =>
      `${pathText(e.at)}: image ${e.image} is for ${e.images}, but machine type '${e.machine}' is ${e.machines}`,
    hint: (e) => `use an image for ${e.machines}, or another machine type`,
  }),
  SmallDisk: defineError<InFile & { size: number; image: string; needs: number }>({
    code: 'MANTA_GOOGLE_SMALL_DISK',
    exit: 2,
    message: (e) =>
      `${pathText(e.at)}: a boot disk of ${e.size} GB is smaller than image ${e.image}, which needs ${e.needs} GB`,
    hint: (e) => `set diskSizeGb to ${e.needs} or more, or use a smaller image`,
  }),
  NoTemplate: defineError<InFile & { template: string }>({
    code: 'MANTA_GOOGLE_NO_TEMPLATE',
    exit: 2,
    message: (e) => `${pathText(e.at)}: there is no instance template '${e.template}'`,
    hint: () => "list them with 'gcloud compute instance-templates list'",
  }),
  NoAccount: defineError<InFile & { email: string; id: string; project: string }>({
    code: 'MANTA_GOOGLE_NO_ACCOUNT',
    exit: 2,
    message: (e) => `${pathText(e.at)}: there is no service account '${e.email}'`,
    hint: (e) =>
      `create it with 'gcloud iam service-accounts create ${e.id} --project ${e.project}', name another one, or remove it from the file`,
  }),
  NoNetwork: defineError<{ project: string; region: string }>({
    code: 'MANTA_GOOGLE_NO_NETWORK',
    exit: 2,
    message: (e) => `project ${e.project} has no subnet in ${e.region}, and no default network`,
    hint: (e) =>
      `name a subnet in networkInterfaces of node_config (of a shared VPC: projects/HOST/regions/${e.region}/subnetworks/NAME), or run 'gcloud compute networks create default --project ${e.project}'`,
  }),
  NoSubnet: defineError<InFile & { subnet: string; region: string }>({
    code: 'MANTA_GOOGLE_NO_SUBNET',
    exit: 2,
    message: (e) => `${pathText(e.at)}: there is no subnet '${e.subnet}' in ${e.region}`,
    hint: () => 'correct the subnet or the region; without networkInterfaces one is chosen',
  }),
  ExternalDenied: defineError<{ project: string }>({
    code: 'MANTA_GOOGLE_EXTERNAL_DENIED',
    exit: 5,
    message: (e) =>
      `the organization policy constraints/compute.vmExternalIpAccess forbids external addresses in project ${e.project}`,
    hint: () =>
      'set provider.use_internal_ips: true and run Manta inside the network, or set auth.ssh_proxy_command; or ask an administrator for an exception',
  }),
  OsLoginRequired: defineError<{ project: string; detail: string }>({
    code: 'MANTA_GOOGLE_OS_LOGIN_REQUIRED',
    exit: 5,
    message: (e) => `project ${e.project} requires OS Login, and Manta cannot log in with it: ${e.detail}`,
    hint: () =>
      'ask an administrator for the role roles/compute.osAdminLogin, and enable the API with `gcloud services enable oslogin.googleapis.com`',
  }),
};
