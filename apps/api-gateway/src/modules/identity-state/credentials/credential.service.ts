import { randomUUID } from 'node:crypto';
import {
  type Acting,
  type Actor,
  CREDENTIAL_FORMATS,
  type CredentialFormat,
  type CredentialProfile,
  DomainError,
  EXPIRES_IN,
  intersectionOf,
  type JsonObject,
  type JsonValue,
  parseStoredJson,
  type Reader,
  requireAccess,
  requireStorablePaths,
  RULES,
  type Visible,
} from '@iss/domain';
import {
  type CredentialRecord,
  CredentialStore,
  type NewStatusList,
  type Page,
  type PageRequest,
  type SealedKey,
  type SnapshotRecord,
  StatusListStore,
  type SubjectDisclosure,
} from '@iss/persistence';
import { SecretBox } from '@iss/platform';
import {
  jwkFault,
  type ProfileClaims,
  profileClaims,
  type ProfileFault,
  PROFILES,
  signCredential,
  signEnvelope,
  signProfile,
  signStatusList,
  STATUS_LIST_VALIDITY,
} from '@iss/attestation';
import { Injectable } from '@nestjs/common';
import { Counter, Registry } from 'prom-client';
import { Disclosures } from '../../../access/disclosures';
import { requireContent } from '../../../access/erased';
import { notFound } from '../../../access/read-access';
import { LogTreeService } from '../../../log/log-tree.service';
import type { Asker } from '../../../runtime/asker';
import { ShownSnapshots } from '../snapshot/shown-snapshots';

/** A credential as it was asked for. */
export interface SentRequest {
  paths: readonly JsonValue[] | undefined;
  profile: CredentialProfile | undefined;
  format: CredentialFormat | undefined;
  holderKey: JsonObject | undefined;
  expiresIn: number | undefined;
  /** The offer by which a wallet takes it. */
  offerId?: string;
}

/** A version of which the caller may issue a credential. */
export interface IssuableVersion {
  snapshot: SnapshotRecord & { envelope: string; envelopeHash: string };
  /** Null until it has a view. */
  viewSecret: Buffer | null;
  subjectKey: number;
  ownerTenantId: string;
  /** The tenant that issues it by a grant; null for the owner. */
  granteeTenantId: string | null;
  /** The parts that the credential discloses. */
  paths: Visible;
  disclosure: SubjectDisclosure | null;
  logIndex: number | null;
  /** Null without a profile. */
  mapped: ProfileClaims | null;
}

const MAX_HOLDER_KEY_BYTES = 4096;

/** Issues credentials of versions. */
@Injectable()
export class CredentialService {
  private readonly issued: Counter<'format'>;

  constructor(
    private readonly credentials: CredentialStore,
    private readonly lists: StatusListStore,
    private readonly disclosures: Disclosures,
    private readonly shown: ShownSnapshots,
    private readonly tree: LogTreeService,
    private readonly secrets: SecretBox,
    registry: Registry,
  ) {
    this.issued = new Counter({
      name: 'credentials_issued_total',
      help: 'Issued credentials, by their format',
      labelNames: ['format'],
      registers: [registry],
    });
    for (const format of CREDENTIAL_FORMATS) this.issued.inc({ format }, 0);
  }

  /**
   * Returns the version of which a credential is asked for. Throws `forbidden`, `not_found`, `erased`, `validation_error`, or
   * `conflict` if the version has no hash, or lacks what the profile needs.
   */
  async source(
    asker: Reader & Asker,
    acting: Acting,
    snapshotId: string,
    sent: Pick<SentRequest, 'paths' | 'profile' | 'format' | 'holderKey'>,
  ): Promise<IssuableVersion> {
    const { facts, disclosure, viewSecret, subjectKey, ownerTenantId, logIndex, ...found } =
      await this.credentials.source(acting, snapshotId);
    const { issueCredential } = RULES;
    const visible = requireAccess(facts, found.version === null ? { role: issueCredential.role } : issueCredential);
    if (found.snapshot === null || subjectKey === null || ownerTenantId === null) throw notFound();
    const { envelope, envelopeHash, ...rest } = requireContent(found.snapshot);
    if (envelope === null || envelopeHash === null) throw unsealed();
    const snapshot = { ...rest, envelope, envelopeHash };
    const isOwner = disclosure === null;
    const { profile, paths: asked } = sent;
    if (profile !== undefined) requireNoOther(sent);
    if (!isOwner && asked !== undefined) throw pathsOfGrant();
    if (sent.format === 'eddsa-jcs-2022') requireWhole(sent, visible);
    const granteeTenantId = isOwner ? null : acting.tenantId;
    const source = { snapshot, viewSecret, subjectKey, ownerTenantId, granteeTenantId, disclosure, logIndex };
    if (profile === undefined) {
      return { ...source, paths: isOwner ? requireStorablePaths(asked ?? null) : visible, mapped: null };
    }
    const paths = intersectionOf(visible, PROFILES[profile].paths);
    const { envelope: shown } = await this.shown.viewOf(asker, snapshot, viewSecret, { visible: paths });
    const mapped = asker.measured(() => profileClaims(profile, parseStoredJson(shown)));
    if (mapped.faults.length > 0) throw unfit(profile, mapped.faults);
    return { ...source, paths, mapped };
  }

  /**
   * Issues a credential of a version. Throws `forbidden`, `not_found`, `erased`, `validation_error`, `limit_reached`, or
   * `conflict` if the tenant has no key, the version is not fit for the profile, or the offer was taken.
   */
  async issue(
    asker: Reader & Asker,
    acting: Acting,
    snapshotId: string,
    sent: SentRequest,
  ): Promise<CredentialRecord & { credential: string }> {
    const source = await this.source(asker, acting, snapshotId, sent);
    const {
      snapshot,
      viewSecret,
      ownerTenantId: tenantId,
      granteeTenantId,
      subjectKey,
      paths,
      disclosure,
      mapped,
    } = source;
    const { snapshotVersion: version } = snapshot;
    const holderKey = await holderKeyOf(sent.holderKey);
    const { format = 'dc+sd-jwt', profile = null, offerId = null } = sent;
    // The paths of a grant never lead into arrays, because an index moves to another element.
    const wanted = { visible: paths, intoArrays: granteeTenantId === null };
    const isView = format === 'dc+sd-jwt' && mapped === null;
    const view = isView ? await this.shown.viewOf(asker, snapshot, viewSecret, wanted) : null;
    const made = await this.credentials.issue(
      acting,
      {
        ...{ credentialId: randomUUID(), tenantId, granteeTenantId, subjectKey, version, paths },
        ...{ format, profile, offerId },
        hasHolderKey: holderKey !== null,
        expiresIn: sent.expiresIn ?? EXPIRES_IN.default,
      },
      (key) => this.openList(key),
    );
    if (made === null) {
      throw new DomainError('unavailable', 'The version was erased during this request. Send it again.');
    }
    await this.disclosures.record(asker, disclosure, { from: version, to: version }, 'credential');
    const { credential: record } = made;
    const { issuer, issuedAt, expiresAt, statusUri: uri, statusIdx: idx } = record;
    const log = await this.placeOf(source.logIndex);
    const claims = {
      credentialId: record.credentialId,
      issuer,
      issuedAt,
      expiresAt,
      status: { uri, idx },
      log,
      holderKey,
    };
    const key = this.open(made.key);
    this.issued.inc({ format });
    if (view !== null) return { ...record, credential: await signCredential(view, claims, key) };
    if (profile === null || mapped === null) return { ...record, credential: signEnvelope(snapshot, claims, key) };
    return { ...record, credential: await signProfile(profile, mapped, claims, key) };
  }

  /** Returns a credential. Throws `forbidden` or `not_found`. */
  async find(actor: Actor, credentialId: string): Promise<CredentialRecord> {
    const { facts, credential } = await this.credentials.find(actor, credentialId);
    requireAccess(facts, RULES.readCredentials);
    if (credential === null) throw noSuchCredential();
    return credential;
  }

  async list(actor: Actor, request: PageRequest): Promise<Page<CredentialRecord>> {
    const { facts, page } = await this.credentials.list(actor, request);
    requireAccess(facts, RULES.readCredentials);
    return page;
  }

  /** Makes a credential invalid. Throws `forbidden`, `not_found`, or `conflict` if it is invalid already. */
  async withdraw(acting: Acting, credentialId: string): Promise<CredentialRecord> {
    const { facts, credential } = await this.credentials.find(acting, credentialId);
    requireAccess(facts, RULES.withdrawCredential);
    if (credential === null) throw noSuchCredential();
    if (!(await this.credentials.withdraw(acting, credentialId))) {
      throw new DomainError('conflict', 'The credential is invalid already. GET shows why.');
    }
    return this.find(acting, credentialId);
  }

  /** Returns a signed status list. Throws `not_found`. */
  async statusList(listId: string): Promise<string> {
    const token = await this.lists.find(listId);
    if (token === null) throw new DomainError('not_found', 'No such status list.');
    return token;
  }

  private async openList({ issuer, ...key }: SealedKey): Promise<NewStatusList> {
    const listId = randomUUID();
    const uri = `${new URL(issuer).origin}/v1/status-lists/${listId}`;
    const signedAt = new Date();
    const token = await signStatusList({ issuer, uri, signedAt, statuses: [] }, this.open(key));
    return { listId, uri, token, signedAt, dueAt: new Date(signedAt.getTime() + STATUS_LIST_VALIDITY * 500) };
  }

  private async placeOf(logIndex: number | null): Promise<{ origin: string; index: number } | null> {
    const checkpoint = logIndex === null ? null : await this.tree.checkpoint();
    return logIndex === null || checkpoint === null ? null : { origin: checkpoint.origin, index: logIndex };
  }

  private open({ kid, publicKey, sealed }: Omit<SealedKey, 'issuer'>) {
    return { kid, publicKey, privateKey: this.secrets.open(sealed, kid) };
  }
}

/** Returns the public key without other members. Throws `validation_error`. */
async function holderKeyOf(sent: JsonObject | undefined): Promise<JsonObject | null> {
  if (sent === undefined) return null;
  const isLong = JSON.stringify(sent).length > MAX_HOLDER_KEY_BYTES;
  const fault = isLong ? `must have at most ${MAX_HOLDER_KEY_BYTES} characters` : await jwkFault(sent);
  // The values of other members were not read.
  if (fault === null) return Object.fromEntries(Object.entries(sent).filter(([, member]) => member !== null));
  throw new DomainError('validation_error', `holder_key ${fault}.`, [
    { path: '/holder_key', message: fault, code: 'invalid_value' },
  ]);
}

/** Refuses what a profile decides. */
function requireNoOther({ paths, format }: Pick<SentRequest, 'paths' | 'format'>): void {
  if (paths !== undefined) throw leftOut('paths', 'must be left out with a profile, which names its paths');
  if (format === 'eddsa-jcs-2022') throw leftOut('profile', 'must be left out with the format eddsa-jcs-2022');
}

function unfit(profile: CredentialProfile, faults: readonly ProfileFault[]): DomainError {
  return new DomainError(
    'conflict',
    `The visible part of the version is not fit for the profile ${profile}. Write a version in which each place of details has its value.`,
    faults.map(({ path, message }) => ({ path: '/profile', message: `${path} ${message}`, code: 'invalid_value' })),
  );
}

/** Refuses what a credential of the whole envelope cannot have. */
function requireWhole({ paths, holderKey }: Pick<SentRequest, 'paths' | 'holderKey'>, visible: Visible): void {
  const message = 'must be left out with the format eddsa-jcs-2022';
  if (paths !== undefined) throw leftOut('paths', message);
  if (holderKey !== undefined) throw leftOut('holder_key', message);
  if (visible === null) return;
  throw new DomainError(
    'forbidden',
    'Your grants show only parts of the subject, and the format eddsa-jcs-2022 shows everything. Ask for dc+sd-jwt.',
  );
}

function pathsOfGrant(): DomainError {
  return leftOut('paths', 'must be left out: a grantee issues a credential of exactly the paths of its grants');
}

function leftOut(member: string, message: string): DomainError {
  const detail = { path: `/${member}`, message, code: 'invalid_value' } as const;
  return new DomainError('validation_error', `${member} ${message}.`, [detail]);
}

function unsealed(): DomainError {
  return new DomainError(
    'conflict',
    'The version was imported without a hash, so nothing can prove it. An operator fills hashes in.',
  );
}

function noSuchCredential(): DomainError {
  return new DomainError('not_found', 'The tenant issued no such credential. List its credentials for their ids.');
}
