import type { api } from '@identity-state/client';
import { CREDENTIAL_FORMATS, CREDENTIAL_PROFILES, type CredentialProfile, isJsonObject, parseJson } from '@iss/domain';
import { UsageError, wholeNumber } from '../../command';
import { readWhole } from '../../files';
import type { Caller } from '../../service/caller';
import { defineCall, defineList, listing } from '../../service/define';
import { VERSIONED_SUBJECT, type versionedSubjectOf } from '../../service/subject-name';

const LIST = '/v1/tenants/{tenant_id}/credentials';
const ONE = `${LIST}/{credential_id}` as const;
const KEYS = '/v1/tenants/{tenant_id}/issuing-keys';
const OF_SUBJECT = '/v1/tenants/{tenant_id}/subjects/{subject_type}/{subject_id}/snapshots';
const CREDENTIAL = { about: 'Credential id, from iss credential list.' } as const;
const DAY_S = 86_400;
const MAX_KEY = 4_096;

const PATH = {
  value: 'POINTER',
  about: 'JSON Pointer below /attributes to disclose (default: everything).',
  isRepeated: true,
} as const;
const TYPE = {
  value: 'TYPE',
  about: 'Map the version to a published type instead: ownership, ubo, control or company_info.',
  choices: CREDENTIAL_PROFILES,
} as const;
const DAYS = { value: 'N', about: 'Days until it expires (default: 30).', read: wholeNumber(1, 365) } as const;

export const credentialIssue = defineCall({
  about: 'It prints the credential, which the service does not store.',
  arguments: { subject: VERSIONED_SUBJECT },
  options: {
    path: PATH,
    type: TYPE,
    format: {
      value: 'FORMAT',
      about: 'dc+sd-jwt (default), or eddsa-jcs-2022 for a W3C credential of the whole envelope.',
      choices: CREDENTIAL_FORMATS,
    },
    holder: { value: 'FILE', about: 'Public key of the holder, as a JWK.' },
    days: DAYS,
  },
  async call(of, { subject, path, type, format, holder, days }): Promise<api.IssuedCredential> {
    return of.iss.request('POST', '/v1/tenants/{tenant_id}/snapshots/{snapshot_id}/credentials', {
      path: await snapshotOf(of, subject),
      body: {
        ...chosen(path, type, days),
        ...(format === undefined ? {} : { format }),
        ...(holder === undefined ? {} : { holder_key: keyIn(holder) }),
      },
    });
  },
  isWhole: true,
  text: ({ credential }) => credential,
});

export const credentialOffer = defineCall({
  about: 'It prints a link that opens a wallet, and the digits that its user must enter. Send them on different ways.',
  arguments: { subject: VERSIONED_SUBJECT },
  options: {
    path: PATH,
    type: TYPE,
    days: DAYS,
    'no-tx-code': { about: 'Let anybody take it who sees the link.' },
  },
  async call(of, { subject, path, type, days, 'no-tx-code': isOpen }): Promise<api.CredentialOffer> {
    return of.iss.request('POST', '/v1/tenants/{tenant_id}/snapshots/{snapshot_id}/credential-offers', {
      path: await snapshotOf(of, subject),
      body: { ...chosen(path, type, days), ...(isOpen ? { has_tx_code: false } : {}) },
    });
  },
  isWhole: true,
  text: ({ credential_offer_uri: link, tx_code: txCode, expires_at: end }) => [
    link,
    ...(txCode === null ? [] : [`tx_code: ${txCode}`]),
    `Take it until ${end}`,
  ],
});

export const credentialList = defineList({
  list: () =>
    listing({
      items: ({ iss, tenant }) => iss.list(LIST, { path: { tenant_id: tenant.tenantId } }),
      none: 'No credentials were issued. Issue one: iss credential issue SUBJECT.',
      columns: (one) => ({
        credential: one.credential_id,
        subject: `${one.subject.subject_type}/${one.subject.subject_id}@${one.snapshot_version}`,
        status: one.status,
        until: one.expires_at,
      }),
    }),
});

export const credentialGet = defineCall({
  arguments: { credential: CREDENTIAL },
  call: ({ iss, tenant }, { credential }) => iss.request('GET', ONE, { path: of(tenant.tenantId, credential) }),
  text: textOf,
});

export const credentialWithdraw = defineCall({
  about: 'It becomes invalid, which is final.',
  arguments: { credential: CREDENTIAL },
  call: ({ iss, tenant }, { credential }) =>
    iss.request('POST', `${ONE}/withdraw`, { path: of(tenant.tenantId, credential) }),
  text: textOf,
});

export const credentialKeyCreate = defineCall({
  about: 'The new key signs from now on. Credentials of the previous key stay valid.',
  call: ({ iss, tenant }) => iss.request('POST', KEYS, { path: { tenant_id: tenant.tenantId } }),
  text: ({ kid, issuer }) => `The key ${kid} signs for ${issuer}`,
});

export const credentialKeyList = defineList({
  list: () =>
    listing({
      items: ({ iss, tenant }) => iss.list(KEYS, { path: { tenant_id: tenant.tenantId } }),
      none: 'The tenant has no issuing key. Create one: iss credential key create.',
      columns: ({ kid, created_at, replaced_at, retired_at }) => ({
        key: kid,
        status: retired_at !== null ? 'retired' : replaced_at !== null ? 'replaced' : 'signs',
        since: retired_at ?? replaced_at ?? created_at,
      }),
    }),
});

export const credentialKeyRetire = defineCall({
  about: 'For a compromised key: all of its credentials become invalid. If it signs, a new key replaces it.',
  arguments: { key: { about: 'Id of the key, from iss credential key list.' } },
  call: ({ iss, tenant }, { key }) =>
    iss.request('POST', `${KEYS}/{kid}/retire`, { path: { tenant_id: tenant.tenantId, kid: key } }),
  text: ({ kid }) => `Retired the key ${kid}`,
});

/** Returns the path parameters of a version. */
async function snapshotOf({ iss, tenant }: Caller, { subject, version }: ReturnType<typeof versionedSubjectOf>) {
  const ids = { tenant_id: tenant.tenantId, subject_type: subject.type, subject_id: subject.id };
  const { snapshot_id } =
    version === null
      ? await iss.request('GET', `${OF_SUBJECT}/latest`, { path: ids, query: { view: 'header' } })
      : await iss.request('GET', `${OF_SUBJECT}/{snapshot_version}`, {
          path: { ...ids, snapshot_version: version },
          query: { view: 'header' },
        });
  return { tenant_id: tenant.tenantId, snapshot_id };
}

function chosen(path: readonly string[], profile: CredentialProfile | undefined, days: number | undefined) {
  return {
    ...(path.length === 0 ? {} : { paths: [...path] }),
    ...(profile === undefined ? {} : { profile }),
    ...(days === undefined ? {} : { expires_in: days * DAY_S }),
  };
}

const of = (tenant_id: string, credential_id: string) => ({ tenant_id, credential_id });
function textOf({
  credential_id,
  subject,
  snapshot_version,
  status,
  invalid_reason,
  expires_at,
}: api.Credential): string {
  const reason = invalid_reason === null ? '' : ` (${invalid_reason})`;
  const of = `${subject.subject_type}/${subject.subject_id}@${snapshot_version}`;
  return `${credential_id} of ${of}: ${status}${reason}, until ${expires_at}`;
}

function keyIn(file: string): Record<string, unknown> {
  const key = parseJson(readWhole(file, 'key', MAX_KEY));
  if (isJsonObject(key)) return { ...key };
  throw new UsageError(`${file} has no JWK.`);
}
