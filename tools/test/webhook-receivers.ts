import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newWebhookSecret, signDelivery } from '@iss/domain';
import { reservePort } from '../processes.ts';
import { repositoryRoot } from '../root.ts';
import { waitFor } from '../testing/wait-for.ts';

const docs = join(repositoryRoot, 'docs');
export const page = readFileSync(join(docs, 'webhooks.md'), 'utf8');
const BODY =
  '{"id":"evt_1","type":"webhook.test","created_at":"2026-01-15T10:00:00.000Z","tenant_id":"Zürich 🏔","data":{}}';
export const secret = newWebhookSecret();
const oldSecret = newWebhookSecret();

/** The programs of the page: those it contains, then those it links. */
const programs = [
  ...[...page.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, text]) => text ?? ''),
  ...[...page.matchAll(/\]\((receivers\/[^)]+)\)/g)].map(([, path = '']) => readFileSync(join(docs, path), 'utf8')),
];

/** The names of the programs, in the order of the page. */
export const files = programs.flatMap((text) => /^(?:\/\/|#) (\S+\.\w+): /m.exec(text)?.[1] ?? []);

/** Returns a program of the page and its command. The program contains both, as in `// receiver.mjs: node receiver.mjs`. */
export function sample(file: string): { text: string; command: string; args: string[] } {
  const told = new RegExp(`^(?://|#) ${file.replace('.', '\\.')}: (\\S+) (.*?)(?: \\(.*\\)| <.*)?$`, 'm');
  const found = programs.flatMap((text) => {
    const [, command = '', args = ''] = told.exec(text) ?? [];
    return command === '' ? [] : [{ text, command, args: args.split(' ') }];
  });
  const [only, ...others] = found;
  if (only === undefined || others.length > 0) throw new Error(`docs/webhooks.md has ${found.length} programs ${file}`);
  return only;
}

type Headers = Record<string, string>;
export interface Delivery {
  what: string;
  headers: Headers;
  body: string;
}

function signed(options: { secrets?: string[]; ageSeconds?: number } = {}): Headers {
  const { secrets = [secret], ageSeconds = 0 } = options;
  return signDelivery({ secrets, id: 'evt_1', timestampSeconds: Date.now() / 1_000 - ageSeconds, body: BODY });
}

/** Returns the deliveries that a receiver with `secret` must accept, and those that it must refuse. */
export function deliveries(scheme: 'webhook' | 'service'): { genuine: Delivery[]; forged: Delivery[] } {
  const one = (what: string, headers: Headers, body = BODY): Delivery => ({ what, headers, body });
  const without = (name: string): Headers =>
    Object.fromEntries(Object.entries(signed()).filter(([header]) => header !== name));
  const header = scheme === 'service' ? 'x-service-signature' : 'webhook-signature';
  const common = [
    one('another secret', signed({ secrets: [oldSecret] })),
    one('another body', signed(), BODY.replace('evt_1', 'evt_2')),
    one('no signature', without(header)),
    one('an empty signature', { ...signed(), [header]: '' }),
    one('a cut signature', { ...signed(), [header]: (signed()[header] ?? '').slice(0, -2) }),
  ];
  if (scheme === 'service')
    return { genuine: [one('its own secret', signed()), one('a repeated delivery', signed())], forged: common };
  return {
    genuine: [
      one('its own secret', signed()),
      one('a repeated delivery', signed()),
      one('four minutes old', signed({ ageSeconds: 240 })),
      one('a rotation with grace', signed({ secrets: [oldSecret, secret] })),
    ],
    forged: [
      ...common,
      one('six minutes old', signed({ ageSeconds: 360 })),
      one('six minutes ahead', signed({ ageSeconds: -360 })),
      one('another id', { ...signed(), 'webhook-id': 'evt_2' }),
      one('another time', { ...signed(), 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 10) }),
      one('an invalid time', { ...signed(), 'webhook-timestamp': 'now' }),
      one('no time', without('webhook-timestamp')),
      one('another version', {
        ...signed(),
        'webhook-signature': (signed()['webhook-signature'] ?? '').replace('v1', 'v0'),
      }),
    ],
  };
}

/** Returns whether a program is installed. */
export const isPresent = (command: string, flag: string): boolean => spawnSync(command, [flag]).status === 0;

/** Returns `it`, or prints why the test is skipped. */
export function itWith(runtime: string, are: boolean): jest.It {
  if (are) return it;
  process.stderr.write(`docs/webhooks.md: ${runtime} is not installed here; its sample is not run.\n`);
  return it.skip;
}

/** A receiver in docs/webhooks.md. */
export interface ReceiverSample {
  file: string;
  versionFlag: string;
  schemes: readonly ('webhook' | 'service')[];
}

/** Runs a receiver in docs/webhooks.md if its language is installed. Checks what it accepts and refuses. */
export function describeReceiver({ file, versionFlag, schemes }: ReceiverSample): void {
  describe(`the receiver ${file}`, () => {
    let folder: string;

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'iss-webhook-docs-'));
      symlinkSync(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
    });

    afterAll(() => {
      rmSync(folder, { recursive: true, force: true });
    });

    const { text, command, args } = sample(file);
    itWith(command, isPresent(command, versionFlag)).each(schemes)(
      'accepts genuine and refuses forged deliveries with the scheme %s',
      async (scheme) => {
        writeFileSync(join(folder, file), text);
        const port = await reservePort();
        const env = {
          ...process.env,
          WEBHOOK_SECRET: secret,
          WEBHOOK_SCHEME: scheme,
          PORT: String(port),
          NODE_OPTIONS: '',
        };
        const child = spawn(command, args, { cwd: folder, env, detached: true });
        const printed = capture(child);
        try {
          const post = async ({ headers, body }: Delivery): Promise<number> =>
            (await fetch(`http://127.0.0.1:${port}/hooks`, { method: 'POST', headers, body })).status;
          const probe = (): Promise<number> => post({ what: 'a probe', headers: signed(), body: BODY });
          const isUp = async (): Promise<boolean> => child.exitCode !== null || (await probe()) > 0;
          await waitFor(isUp, { what: `${file} to listen` });
          if (child.exitCode !== null) throw new Error(printed());
          // Signed now, since the program may have taken long to start.
          const { genuine, forged } = deliveries(scheme);
          const verdicts: (readonly [string, number])[] = [];
          for (const delivery of [...genuine, ...forged]) verdicts.push([delivery.what, await post(delivery)]);
          expect(verdicts).toEqual([
            ...genuine.map(({ what }) => [what, 204]),
            ...forged.map(({ what }) => [what, 401]),
          ]);
          await waitFor(printed, { what: 'the event to be printed' });
          // Printed once, although it was delivered several times.
          expect(printed().match(/evt_1/g)).toHaveLength(1);
        } finally {
          await stop(child);
        }
      },
    );
  });
}

function capture(child: ChildProcess): () => string {
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  return () => output;
}

/** Kills the process group, since `go run` runs the program in a child process. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  process.kill(-child.pid, 'SIGKILL');
  await ended;
}
