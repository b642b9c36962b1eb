/** A program that calls Google by its own names with the official library, as its environment says. Its argument says what. */
import { GoogleAuth, JWT, OAuth2Client } from 'google-auth-library';

const scopes = 'https://www.googleapis.com/auth/cloud-platform';
const auth = new GoogleAuth({ scopes });
const say = (...words: readonly unknown[]): void => void process.stdout.write(`${words.join(' ')}\n`);

interface Instances {
  readonly items?: readonly { readonly name: string }[];
}
const url = async (): Promise<string> =>
  `https://compute.googleapis.com/compute/v1/projects/${await auth.getProjectId()}/zones/us-west1-a/instances`;
const names = ({ items = [] }: Instances): string => items.map(({ name }) => name).join();

const programs: Readonly<Record<string, () => Promise<void>>> = {
  /** Instances of a zone, with a token of the token endpoint. */
  async list() {
    const client = await auth.getClient();
    const { data } = await client.request<Instances>({ url: await url() });
    say(await auth.getProjectId(), names(data));
  },

  /** The same with a token that a service account signs itself. */
  async signed() {
    const { email, key, keyId } = (await auth.getClient()) as JWT;
    const client = new JWT({ email: email!, key: key!, keyId: keyId! });
    const headers = await client.getRequestHeaders(await url());
    const { data } = await client.transporter.request<Instances>({ url: await url(), headers });
    say(await auth.getProjectId(), names(data));
  },

  /** What Ray's clients ask for before they call. */
  async documents() {
    const { transporter } = new OAuth2Client();
    const ask = async (at: string): Promise<Readonly<Record<string, string>>> =>
      (await transporter.request<Record<string, string>>({ url: at, responseType: 'json' })).data;
    const account = 'projects/-/serviceAccounts/a@b/allowedLocations';
    say(
      (await ask('https://tpu.googleapis.com/$discovery/rest'))['version'],
      (await ask(`https://iamcredentials.googleapis.com/v1/${account}`))['encodedLocations'],
      (await ask('https://www.googleapis.com/discovery/v1/apis/compute/v1/rest'))['id'],
    );
  },
};

try {
  await programs[process.argv[2] ?? '']!();
} catch (error) {
  say((error as Error).message);
}
