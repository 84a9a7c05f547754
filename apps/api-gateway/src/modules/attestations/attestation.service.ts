import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type Acting, type Actor, DomainError, requireAccess, RULES } from '@iss/domain';
import {
  type AttestationRecord,
  AttestationStore,
  type Page,
  type PageRequest,
  TrustedIssuerStore,
} from '@iss/persistence';
import {
  type AskedCredential,
  AttestationProblem,
  issuerOf,
  type KeyBinding,
  requireAsked,
  verifyCredential,
} from '@iss/attestation';
import { Injectable } from '@nestjs/common';
import { Founders } from '../../access/founders';
import { HeldPlaces } from '../../access/held-places';

export interface SentCredential {
  credential: string;
  keyBinding: KeyBinding | null;
  /** How long to wait for its status. */
  waitSeconds: number;
  /** The presentation request that it answers; null if it was uploaded. */
  request: (AskedCredential & { presentationRequestId: string }) | null;
}

const POLL_MS = 500;

/** Requests that wait for a status, in total and per principal. Any further request is answered at once. */
const MAX_WAITING = 100;
const MAX_WAITING_PER_PRINCIPAL = 20;

/** Verifies credentials of others, so that they can be evidence. */
@Injectable()
export class AttestationService {
  private readonly places = new HeldPlaces(MAX_WAITING, MAX_WAITING_PER_PRINCIPAL);

  constructor(
    private readonly issuers: TrustedIssuerStore,
    private readonly attestations: AttestationStore,
    private readonly founders: Founders,
  ) {}

  /**
   * Verifies a credential and stores its description, without its text. The worker reads its status. Throws `forbidden`,
   * `limit_reached`, `validation_error` that says what is wrong with the credential, or `conflict` if its request has ended.
   */
  async add(acting: Acting, sent: SentCredential): Promise<AttestationRecord> {
    const { waitSeconds, request } = sent;
    const deadlineMs = performance.now() + waitSeconds * 1000;
    const { issuer, vct, digest, hasKeyBinding, expiresAt, status } = await this.verify(acting, sent);
    const attestationId = randomUUID();
    const attestation = {
      ...{ attestationId, tenantId: acting.tenantId, issuer, vct, digest, hasKeyBinding, expiresAt },
      ...{ statusUri: status?.uri ?? null, statusIdx: status?.idx ?? null },
    };
    const added = await this.attestations.add(acting, attestation, request?.presentationRequestId ?? null);
    return added.status === 'pending' && waitSeconds > 0 ? this.settled(acting, added, deadlineMs) : added;
  }

  /** Waits for the status until the deadline. Does not wait if too many requests do. */
  private async settled(acting: Acting, added: AttestationRecord, deadlineMs: number): Promise<AttestationRecord> {
    const leave = this.places.take(acting.principalId, await this.founders.of(acting.tenantId));
    if (leave === null) return added;
    try {
      let found = added;
      while (found.status === 'pending' && performance.now() < deadlineMs) {
        await wait(POLL_MS);
        found = await this.find(acting, added.attestationId);
      }
      return found;
    } finally {
      leave();
    }
  }

  /** Returns an attestation. Throws `forbidden` or `not_found`. */
  async find(actor: Actor, attestationId: string): Promise<AttestationRecord> {
    const { facts, attestation } = await this.attestations.find(actor, attestationId);
    requireAccess(facts, RULES.readAttestations);
    if (attestation !== null) return attestation;
    throw new DomainError('not_found', 'The tenant has no such attestation. List its attestations for their ids.');
  }

  async list(actor: Actor, request: PageRequest): Promise<Page<AttestationRecord>> {
    const { facts, page } = await this.attestations.list(actor, request);
    requireAccess(facts, RULES.readAttestations);
    return page;
  }

  private async verify(actor: Actor, { credential, keyBinding, request }: SentCredential) {
    // If the credential names no issuer, an empty name is looked up, which no issuer has. So access is decided first in
    // any case.
    const { facts, trusted } = await this.issuers.find(actor, namedIssuer(credential));
    requireAccess(facts, RULES.createAttestation);
    try {
      const issuer = issuerOf(credential);
      if (trusted === null)
        throw new AttestationProblem(
          'untrusted_issuer',
          'is of an issuer that the tenant does not trust: a tenant_admin can add it to the trusted issuers',
        );
      const keys = { issuer, jwks: [...trusted.keys], roots: trusted.roots };
      const verified = await verifyCredential(credential, keys, keyBinding, new Date());
      if (request !== null) requireAsked(verified, request);
      if (trusted.vcts.includes(verified.vct)) return verified;
      throw new AttestationProblem(
        'untrusted_issuer',
        'is of a type for which the tenant does not trust the issuer: a tenant_admin can add its vct to the trusted issuer',
      );
    } catch (error) {
      if (!(error instanceof AttestationProblem)) throw error;
      const { code, message } = error;
      const path = code === 'invalid_key_binding' ? '/key_binding' : '/credential';
      throw new DomainError('validation_error', `The credential ${message}.`, [{ path, message, code }]);
    }
  }
}

/** Returns the issuer that a credential names; an empty text if it names none. */
function namedIssuer(credential: string): string {
  try {
    return issuerOf(credential);
  } catch {
    return '';
  }
}
