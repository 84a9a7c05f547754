import {
  type Acting,
  type Actor,
  DomainError,
  type ErrorDetail,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  requireAccess,
  RULES,
} from '@iss/domain';
import { type Page, type PageRequest, type TrustedIssuerRecord, TrustedIssuerStore } from '@iss/persistence';
import { certificateOf, jwkFault } from '@iss/attestation';
import { Injectable } from '@nestjs/common';
import { AccessService } from '../../access/access.service';

/** An entry of a trust list as it was sent. */
export interface SentIssuer {
  vcts: readonly JsonValue[];
  keys: readonly JsonValue[];
  roots: readonly JsonValue[];
}

const MAX_ITEMS = { vcts: 100, keys: 20, roots: 10 } as const;
const MAX_VCT_LENGTH = 512;
export const VCT_RULE = `must be a text of 1 to ${MAX_VCT_LENGTH} characters without control characters`;
/** Limits the size of an entry, so that a page of entries stays small. */
const MAX_ENTRY_BYTES = 24 * 1024;

/** Manages the issuers that a tenant trusts. */
@Injectable()
export class TrustedIssuerService {
  constructor(
    private readonly access: AccessService,
    private readonly issuers: TrustedIssuerStore,
  ) {}

  /** Adds or replaces an issuer. Throws `forbidden`, `limit_reached`, or `validation_error` that names each place. */
  async put(acting: Acting, issuer: string, sent: SentIssuer): Promise<TrustedIssuerRecord> {
    await this.access.require(acting, RULES.manageTrustedIssuers);
    const { tenantId } = acting;
    return this.issuers.put(acting, { tenantId, issuer, ...(await requireIssuer(sent)) });
  }

  /** Returns an issuer. Throws `forbidden` or `not_found`. */
  async find(actor: Actor, issuer: string): Promise<TrustedIssuerRecord> {
    const { facts, trusted } = await this.issuers.find(actor, issuer);
    requireAccess(facts, RULES.readTrustedIssuers);
    if (trusted === null) throw noSuchIssuer();
    return trusted;
  }

  async list(actor: Actor, request: PageRequest): Promise<Page<TrustedIssuerRecord>> {
    const { facts, page } = await this.issuers.list(actor, request);
    requireAccess(facts, RULES.readTrustedIssuers);
    return page;
  }

  /** Removes an issuer. Throws `forbidden` or `not_found`. */
  async remove(acting: Acting, issuer: string): Promise<void> {
    await this.access.require(acting, RULES.manageTrustedIssuers);
    if (!(await this.issuers.remove(acting, acting.tenantId, issuer))) throw noSuchIssuer();
  }
}

async function requireIssuer(sent: SentIssuer): Promise<Pick<TrustedIssuerRecord, 'vcts' | 'keys' | 'roots'>> {
  const details: ErrorDetail[] = [];
  const refuse = (path: string, message: string, code = 'invalid_value'): void => {
    details.push({ path, message, code });
  };
  for (const name of ['vcts', 'keys', 'roots'] as const) {
    if (sent[name].length > MAX_ITEMS[name])
      refuse(`/${name}`, `must have at most ${MAX_ITEMS[name]} items`, 'too_many');
  }
  if (sent.vcts.length === 0) refuse('/vcts', 'must have at least one item', 'required');
  if (sent.keys.length + sent.roots.length === 0)
    refuse('/keys', 'must have an item, unless roots has one', 'required');
  if (Buffer.byteLength(JSON.stringify(sent)) > MAX_ENTRY_BYTES) {
    refuse('', `must have at most ${MAX_ENTRY_BYTES} bytes`, 'too_many');
  }
  if (details.length > 0) throw invalid(details);
  const vcts = sent.vcts.filter(isVct);
  for (const [index, vct] of sent.vcts.entries()) {
    if (!isVct(vct)) refuse(`/vcts/${index}`, VCT_RULE);
  }
  const keys: JsonObject[] = [];
  for (const [index, key] of sent.keys.entries()) {
    const fault = await jwkFault(key);
    if (fault !== null) refuse(`/keys/${index}`, fault);
    else if (isJsonObject(key)) {
      // The values of other members were not read.
      keys.push(Object.fromEntries(Object.entries(key).filter(([, member]) => member !== null)));
    }
  }
  const roots = sent.roots.flatMap((root, index) => {
    const certificate = typeof root === 'string' ? certificateOf(root) : null;
    if (certificate === null) refuse(`/roots/${index}`, 'must be an X.509 certificate in PEM, or base64 of DER');
    return certificate ?? [];
  });
  if (details.length > 0) throw invalid(details);
  return { vcts, keys, roots };
}

/** Checks whether a value can be the type of credentials. */
export function isVct(vct: JsonValue): vct is string {
  return typeof vct === 'string' && vct !== '' && vct.length <= MAX_VCT_LENGTH && !/\p{Cc}/u.test(vct);
}

function invalid(details: ErrorDetail[]): DomainError {
  return new DomainError('validation_error', 'The issuer is not valid. See details for each place.', details);
}

function noSuchIssuer(): DomainError {
  return new DomainError(
    'not_found',
    'The tenant does not trust this issuer. List its trusted issuers for their names.',
  );
}
