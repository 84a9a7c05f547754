import type { IncomingMessage } from 'node:http';
import { type Acting, type Actor, DomainError, requireAccess, RULES } from '@iss/domain';
import {
  type IssuingKeyRecord,
  IssuingKeyStore,
  type NewIssuingKey,
  type Page,
  type PageRequest,
} from '@iss/persistence';
import { SecretBox } from '@iss/platform';
import { createIssuingKey } from '@iss/attestation';
import { Inject, Injectable } from '@nestjs/common';
import { AccessService } from '../../../access/access.service';
import { requireOwnOrigin } from '../../../auth/protected-resource';
import { type GatewaySettings, SETTINGS } from '../../../settings';

/** Manages the keys with which tenants sign credentials. */
@Injectable()
export class IssuingKeyService {
  constructor(
    private readonly access: AccessService,
    private readonly keys: IssuingKeyStore,
    private readonly secrets: SecretBox,
    @Inject(SETTINGS) private readonly settings: GatewaySettings,
  ) {}

  /** Creates the key that signs from now on. Throws `forbidden` or `limit_reached`. */
  async create(acting: Acting, request: IncomingMessage): Promise<IssuingKeyRecord> {
    await this.access.require(acting, RULES.manageIssuingKeys);
    return this.keys.create(acting, await this.newKey(acting, request));
  }

  async list(actor: Actor, request: PageRequest): Promise<Page<IssuingKeyRecord>> {
    const { facts, page } = await this.keys.list(actor, request);
    requireAccess(facts, RULES.readIssuingKeys);
    return page;
  }

  /** Makes everything that a key signed invalid. Throws `forbidden`, `not_found`, or `conflict` if it was retired before. */
  async retire(acting: Acting, kid: string, request: IncomingMessage): Promise<IssuingKeyRecord> {
    const { facts, key } = await this.keys.find(acting, kid);
    requireAccess(facts, RULES.manageIssuingKeys);
    if (key === null) throw noSuchKey();
    if (!(await this.keys.retire(acting, kid, await this.newKey(acting, request)))) {
      throw new DomainError('conflict', 'The key was retired before.');
    }
    return (await this.keys.find(acting, kid)).key ?? key;
  }

  /** Returns the keys that verifiers need, newest first. Throws `not_found` if the tenant has none. */
  async published(tenantId: string): Promise<readonly [IssuingKeyRecord, ...IssuingKeyRecord[]]> {
    const [newest, ...others] = await this.keys.needed(tenantId);
    if (newest === undefined) throw new DomainError('not_found', 'No issuer of credentials has this name.');
    return [newest, ...others];
  }

  private async newKey({ tenantId }: Actor, request: IncomingMessage): Promise<NewIssuingKey> {
    const origin = requireOwnOrigin(request, this.settings.auth);
    const { kid, publicKey, privateKey } = await createIssuingKey();
    const issuer = `${origin}/tenants/${encodeURIComponent(tenantId)}`;
    return { kid, issuer, publicKey, sealed: this.secrets.seal(privateKey, kid) };
  }
}

function noSuchKey(): DomainError {
  return new DomainError('not_found', 'The tenant has no such issuing key. List its issuing keys for their ids.');
}
