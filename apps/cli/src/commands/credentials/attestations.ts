import type { api } from '@identity-state/client';
import { PRESENTATION_EXPIRES_IN } from '@iss/domain';
import { parseJsonText } from '@iss/domain/pure';
import { setTimeout as pause } from 'node:timers/promises';
import { Failure, UsageError, wholeNumber } from '../../command';
import { readWhole } from '../../files';
import type { Caller } from '../../service/caller';
import { defineCall, defineList, listing } from '../../service/define';
import { visible } from '../../visible';

/** The limit of a file in bytes, which is above the limit of the service. */
const MAX_FILE = 1_000_000;
const MAX_WAIT_S = 10;
const PAUSE_MS = 1000;
const { min: MIN_EXPIRY_S, max: MAX_EXPIRY_S, default: EXPIRY_S } = PRESENTATION_EXPIRES_IN;

const ATTESTATIONS = '/v1/tenants/{tenant_id}/attestations';
const REQUESTS = '/v1/tenants/{tenant_id}/presentation-requests';
const ISSUERS = '/v1/tenants/{tenant_id}/trusted-issuers';

const ISSUER = { about: 'Issuer: the iss of its credentials, from iss issuers.', isShared: true } as const;

export const attestations = defineList({
  about: 'Newest first.',
  list: () =>
    listing({
      items: ({ iss, tenant }) => iss.list(ATTESTATIONS, { path: { tenant_id: tenant.tenantId } }),
      none: 'There are no attestations. Add a credential: iss attestations add FILE.',
      paint: { attestation: 'yellow' },
      columns: ({ attestation_id: id, status, issuer, vct, expires_at: expires, status_problem: problem }) => ({
        attestation: id,
        status: problem === null ? status : `${status}: ${problem}`,
        issuer,
        type: vct,
        expires,
      }),
    }),
});

export const attestationsAdd = defineCall({
  about:
    'Prints the item for the evidence of an envelope. A wallet signs --nonce and --audience when it presents the credential.',
  arguments: { file: { about: 'SD-JWT VC in compact form.', read: credentialOf } },
  options: {
    nonce: { value: 'TEXT', about: 'Nonce that you gave to the wallet.' },
    audience: { value: 'TEXT', about: 'Audience that you gave to the wallet.' },
    wait: {
      value: 'SECONDS',
      about: `Seconds to wait for the status of the credential (default: ${MAX_WAIT_S}).`,
      read: wholeNumber(0, MAX_WAIT_S),
    },
  },
  check({ nonce, audience }) {
    if ((nonce === undefined) !== (audience === undefined))
      throw new UsageError('--nonce and --audience belong together. Add the other one.');
  },
  call: ({ iss, tenant }, { file: credential, nonce, audience, wait = MAX_WAIT_S }) =>
    iss.request('POST', ATTESTATIONS, {
      path: { tenant_id: tenant.tenantId },
      query: { wait: String(wait) },
      body: {
        credential,
        ...(nonce === undefined || audience === undefined ? {} : { key_binding: { nonce, audience } }),
      },
    }),
  isWhole: true,
  text: textOf,
});

export const attestationsRequest = defineCall({
  about: 'It prints a link that opens a wallet (OpenID4VP), and the id of the request for iss attestations wait.',
  arguments: { type: { about: 'Type of the credential (vct).' } },
  options: {
    claim: {
      value: 'POINTER',
      about: 'JSON Pointer to a claim that the wallet must disclose; * means each item of an array.',
      isRepeated: true,
    },
    seconds: {
      value: 'SECONDS',
      about: `Seconds until the request expires (default: ${EXPIRY_S}).`,
      read: wholeNumber(MIN_EXPIRY_S, MAX_EXPIRY_S),
    },
  },
  call: ({ iss, tenant }, { type, claim, seconds }) =>
    iss.request('POST', REQUESTS, {
      path: { tenant_id: tenant.tenantId },
      body: {
        vcts: [type],
        ...(claim.length === 0 ? {} : { claims: [...claim] }),
        ...(seconds === undefined ? {} : { expires_in: seconds }),
      },
    }),
  isWhole: true,
  text: ({ presentation_request_id: id, link, expires_at: end }) => [
    ...(link === null ? [] : [link]),
    `Answer ${id} until ${end}`,
  ],
});

export const attestationsWait = defineCall({
  about:
    'It prints the same as iss attestations add. If the wallet does not present a credential in time, the exit code is 1.',
  arguments: { request: { about: 'Id that iss attestations request printed.' } },
  options: {
    seconds: {
      value: 'SECONDS',
      about: `Seconds to wait (default: ${EXPIRY_S}).`,
      read: wholeNumber(0, MAX_EXPIRY_S),
    },
  },
  async call(caller, { request, seconds = EXPIRY_S }): Promise<api.Attestation> {
    const deadlineMs = performance.now() + seconds * 1000;
    const answered = await pollUntil(
      deadlineMs,
      () => requestOf(caller, request),
      ({ status }) => status !== 'pending',
    );
    const { status, attestation_id: id, problem } = answered;
    if (id === null) throw new Failure(visible(`The request is ${status}.${problem === null ? '' : ` ${problem}`}`));
    return pollUntil(
      deadlineMs,
      () => attestationOf(caller, id),
      (one) => one.status !== 'pending',
    );
  },
  isWhole: true,
  text: textOf,
});

export const issuers = defineList({
  list: () =>
    listing({
      items: ({ iss, tenant }) => iss.list(ISSUERS, { path: { tenant_id: tenant.tenantId } }),
      none: 'Your tenant trusts no issuer. Add one: iss issuers trust ISSUER.',
      paint: { issuer: 'yellow' },
      columns: ({ issuer, vcts }) => ({ issuer, types: vcts.join(', ') }),
    }),
});

export const issuersTrust = defineCall({
  about: 'Replaces the entry of an issuer that your tenant trusts already. Name --keys, --roots or both.',
  arguments: { issuer: ISSUER },
  options: {
    type: { value: 'VCT', about: 'Type of credentials to accept.', isRepeated: true },
    keys: { value: 'FILE', about: 'JWK Set with the public keys of the issuer.', read: keysOf },
    roots: { value: 'FILE', about: 'PEM certificate of an authority.', isRepeated: true, read: certificateOf },
  },
  check({ type, keys, roots }) {
    if (type.length === 0) throw new UsageError('No type is named. Add --type VCT.');
    if (keys === undefined && roots.length === 0) throw new UsageError('No key is named. Add --keys or --roots.');
  },
  call: ({ iss, tenant }, { issuer, type, keys, roots }) =>
    iss.request('PUT', `${ISSUERS}/{issuer}`, {
      path: { tenant_id: tenant.tenantId, issuer },
      body: {
        vcts: [...type],
        ...(keys === undefined ? {} : { keys }),
        ...(roots.length === 0 ? {} : { roots: [...roots] }),
      },
    }),
  text: ({ issuer, vcts }) => `${issuer} is trusted for ${vcts.join(', ')}`,
});

export const issuersRemove = defineCall({
  about: 'Attestations of the issuer stay, but their status is not read any more.',
  arguments: { issuer: ISSUER },
  hasAnswer: false,
  call: ({ iss, tenant }, { issuer }) =>
    iss.request('DELETE', `${ISSUERS}/{issuer}`, { path: { tenant_id: tenant.tenantId, issuer } }),
  text: (_answer, { issuer }) => `${issuer} is not trusted any more`,
});

function textOf({ attestation_id: id, status, issuer, vct, evidence }: api.Attestation): readonly string[] {
  return [
    `${id}: ${vct} of ${issuer} is ${status}`,
    evidence === null ? 'It is no evidence yet: see iss attestations.' : JSON.stringify(evidence),
  ];
}

const requestOf = ({ iss, tenant }: Caller, id: string) =>
  iss.request('GET', `${REQUESTS}/{presentation_request_id}`, {
    path: { tenant_id: tenant.tenantId, presentation_request_id: id },
  });

const attestationOf = ({ iss, tenant }: Caller, id: string) =>
  iss.request('GET', `${ATTESTATIONS}/{attestation_id}`, {
    path: { tenant_id: tenant.tenantId, attestation_id: id },
  });

/** Reads again until the answer is final, or the deadline has passed. */
async function pollUntil<T>(deadlineMs: number, read: () => Promise<T>, isFinal: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await read();
    if (isFinal(answer) || performance.now() >= deadlineMs) return answer;
    await pause(PAUSE_MS);
  }
}

function credentialOf(path: string): string {
  return readWhole(path, 'credential', MAX_FILE).toString('utf8').trim();
}

function certificateOf(path: string): string {
  return readWhole(path, 'certificate', MAX_FILE).toString('utf8');
}

/** @throws UsageError unless the file holds a JWK Set (RFC 7517, section 5) */
function keysOf(path: string): Record<string, unknown>[] {
  const text = readWhole(path, 'JWK Set', MAX_FILE).toString('utf8');
  const refused = new UsageError(`${path} holds no JWK Set: {"keys": [ … ]}.`);
  let value: unknown;
  try {
    value = parseJsonText(text);
  } catch {
    throw refused;
  }
  if (typeof value !== 'object' || value === null || !('keys' in value) || !Array.isArray(value.keys)) throw refused;
  return value.keys;
}
