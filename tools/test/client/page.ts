import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../root.ts';
import type { StartedService } from '../../testing/started-service.ts';
import { tokenOf } from './testing.ts';

/** Declares the names that the blocks of the page use. Readers have their own values for them. */
const PRELUDE = `
declare global {
  var settings: Record<
    'baseUrl' | 'agentToken' | 'bankToken' | 'agentId' | 'bankId' | 'bankPrincipal' | 'policy' | 'trustFile' | 'webhookSecret',
    string
  >;
}
const { baseUrl, agentToken, bankToken, agentId, bankId, bankPrincipal, policy, trustFile, webhookSecret } = globalThis.settings;
void trustFile;
`;
const EPILOGUE = `
const stranger = new Request('http://receiver.example', { method: 'POST', body: '{}' });
console.log('a stranger is answered', (await receive(stranger)).status);
console.log('done');
`;

/** The lines that the page's blocks print, in Node and in a browser. */
export const PRINTED = [
  'written 1',
  'settled 3',
  'stored 3 refused 0',
  'renamed in version 2',
  'Harbour Works plc',
  'at the end of 2025: Harbour Works Ltd',
  '/attributes/legal/legal_name 2 current',
  'cosigned by',
  'kept',
  'grant.created',
  'fulfilled',
  'after the revocation: 403 true true',
  'a stranger is answered 401',
  'done',
];

/** Returns the blocks of docs/client.md that run everywhere, and those of one platform, as one program. */
export function programFor(platform: 'node' | 'browser'): string {
  const page = readFileSync(join(repositoryRoot, 'docs/client.md'), 'utf8');
  const blocks = [...page.matchAll(/```ts(?: (\w+))?\n([\s\S]*?)```/g)]
    .filter(([, only]) => only === undefined || only === platform)
    .map(([, , block]) => block);
  expect(blocks.length).toBeGreaterThan(10);
  return [PRELUDE, ...blocks, EPILOGUE].join('\n');
}

/** Returns the settings with which the program runs against a service. */
export async function settingsOf(service: StartedService, trustFile: string): Promise<Record<string, string>> {
  const run = randomUUID().slice(0, 8);
  return {
    baseUrl: service.baseUrl,
    agentToken: await tokenOf(service, 'grace'),
    bankToken: await tokenOf(service, 'henry'),
    agentId: `agent-${run}`,
    bankId: `bank-${run}`,
    bankPrincipal: 'oidc:dev#henry',
    policy: readFileSync(service.logPolicyFile, 'utf8'),
    trustFile,
    webhookSecret: `whsec_${Buffer.from(run).toString('base64')}`,
  };
}
