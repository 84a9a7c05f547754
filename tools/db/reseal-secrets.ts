import type { ResealedSecrets, SealedSecrets, SealedSecretStore } from '@iss/persistence';
import { keyIdOf, type SecretBox } from '@iss/platform';

export interface KeyRotation {
  /** Subscriptions with a secret that was resealed, or dropped because its grace period had ended. */
  resealed: number;
  /** Subscriptions without a change. */
  current: number;
  /** Ids of subscriptions with a secret that cannot be opened. Their tenants must rotate it. */
  unopened: string[];
  /** Ids of keys in the ring that seal no webhook secret any more. */
  unusedKeyIds: string[];
}

const PAGE = 500;

/**
 * Reseals every webhook secret with the first key of the ring. Apps with the whole ring can keep running: if a secret is
 * rotated meanwhile, the rotated one is kept and checked again.
 */
export async function resealSecrets(
  store: Pick<SealedSecretStore, 'page' | 'reseal'>,
  secretBox: SecretBox,
): Promise<KeyRotation> {
  let resealed = 0;
  for (;;) {
    const pass = await resealOnce(store, secretBox);
    resealed += pass.resealed;
    if (pass.missed > 0) continue;
    const unusedKeyIds = secretBox.keyIds.filter((id) => id !== secretBox.currentKeyId && !pass.keptKeyIds.has(id));
    return { resealed, current: pass.current - (resealed - pass.resealed), unopened: pass.unopened, unusedKeyIds };
  }
}

async function resealOnce(store: Pick<SealedSecretStore, 'page' | 'reseal'>, secretBox: SecretBox) {
  const pass = { resealed: 0, current: 0, missed: 0, unopened: [] as string[], keptKeyIds: new Set<string>() };
  let page: SealedSecrets[] = [];
  do {
    page = await store.page(page.at(-1)?.id ?? null, PAGE);
    const changes: ResealedSecrets[] = [];
    for (const sealed of page) {
      if (isCurrent(sealed, secretBox)) {
        pass.current += 1;
        continue;
      }
      try {
        changes.push(resealOf(sealed, secretBox));
      } catch {
        pass.unopened.push(sealed.id);
        for (const text of textsOf(sealed)) pass.keptKeyIds.add(keyIdOf(text));
      }
    }
    const changed = changes.length === 0 ? 0 : await store.reseal(changes);
    pass.resealed += changed;
    pass.missed += changes.length - changed;
  } while (page.length === PAGE);
  return pass;
}

function isCurrent(sealed: SealedSecrets, { currentKeyId }: SecretBox): boolean {
  return !sealed.hasExpiredSecret && textsOf(sealed).every((text) => keyIdOf(text) === currentKeyId);
}

/** @throws SecretBoxError if one of them cannot be opened */
function resealOf(sealed: SealedSecrets, secretBox: SecretBox): ResealedSecrets {
  const { id, secret, previousSecret } = sealed;
  const reseal = (text: string): string => secretBox.seal(secretBox.open(text, id), id);
  return {
    id,
    oldSecret: secret,
    secret: reseal(secret),
    previousSecret: previousSecret === null ? null : reseal(previousSecret),
  };
}

function textsOf({ secret, previousSecret }: SealedSecrets): string[] {
  return previousSecret === null ? [secret] : [secret, previousSecret];
}
