import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signDelivery } from '@iss/domain';
import {
  deliveries,
  type Delivery,
  describeReceiver,
  files,
  isPresent,
  itWith,
  page,
  sample,
  secret,
} from './webhook-receivers.ts';

it('the example in docs/webhooks.md has valid signatures', () => {
  const [, head = '', body = ''] = /```http\n([\s\S]*?)\n\n([\s\S]*?)\n```/.exec(page) ?? [];
  const headers = Object.fromEntries(
    [...head.matchAll(/^([\w-]+): (.*)$/gm)].map(([, name = '', value]) => [name.toLowerCase(), value]),
  );
  const [shown = ''] = /whsec_[A-Za-z0-9+/]{43}=/.exec(page) ?? [];
  const timestampSeconds = Number(headers['webhook-timestamp']);
  expect(headers).toMatchObject(signDelivery({ secrets: [shown], id: JSON.parse(body).id, timestampSeconds, body }));
});

it('docs/webhooks.md shows the library of Standard Webhooks before other programs', () => {
  expect(files).toEqual(['library.mjs', 'receiver.mjs', 'receiver.py', 'receiver.go', 'Receiver.java', 'verify.sh']);
});

describeReceiver({ file: 'receiver.mjs', versionFlag: '--version', schemes: ['webhook', 'service'] });
describeReceiver({ file: 'library.mjs', versionFlag: '--version', schemes: ['webhook'] });
describeReceiver({ file: 'receiver.py', versionFlag: '--version', schemes: ['webhook', 'service'] });

describe('the shell script verify.sh', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'iss-webhook-docs-'));
  });

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const present = isPresent('bash', '--version') && isPresent('openssl', 'version');
  itWith('bash with openssl', present).each(['webhook', 'service'] as const)(
    'accepts genuine and refuses forged deliveries with the scheme %s',
    (scheme) => {
      const { text, command, args } = sample('verify.sh');
      writeFileSync(join(folder, 'verify.sh'), text);
      const verify = ({ headers, body }: Delivery): number | null => {
        const variables = Object.entries(headers).map(([name, value]) => [
          name.toUpperCase().replaceAll('-', '_'),
          value,
        ]);
        const env = {
          PATH: process.env['PATH'],
          WEBHOOK_SECRET: secret,
          WEBHOOK_SCHEME: scheme,
          ...Object.fromEntries(variables),
        };
        return spawnSync(command, args, { cwd: folder, env, input: body }).status;
      };
      const { genuine, forged } = deliveries(scheme);
      expect([...genuine, ...forged].map((delivery) => [delivery.what, verify(delivery)])).toEqual([
        ...genuine.map(({ what }) => [what, 0]),
        ...forged.map(({ what }) => [what, 1]),
      ]);
    },
  );
});
