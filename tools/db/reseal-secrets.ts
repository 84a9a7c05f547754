import type { ResealedSecrets, SealedSecrets, SealedSecretStore } from '@iss/persistence';
import { keyIdOf, type SecretBox } from '@iss/platform';

export interface KeyRotation {
  /** Subscriptions of which a secret was sealed anew, or one was dropped whose grace is over. */
  resealed: number;
  /** Subscriptions that had nothing to change. */
  current: number;
  /** Ids of subscriptions with a secret that does not open: their tenants have to rotate it. */
  unopened: string[];
  /** Ids of keys in the ring under which no webhook secret stands any more. */
  unusedKeyIds: string[];
}

const PAGE = 500;

/**
 * Seals every webhook secret that is not under the first key of the ring anew, under that key. Apps that have the whole
 * ring go on meanwhile: a secret that is rotated in between stays as it is then, and is looked at again.
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
    page = await store.page(page.at(-1)?.subscriptionId ?? null, PAGE);
    const changes: ResealedSecrets[] = [];
    for (const sealed of page) {
      if (isCurrent(sealed, secretBox)) {
        pass.current += 1;
        continue;
      }
      try {
        changes.push(resealOf(sealed, secretBox));
      } catch {
        pass.unopened.push(sealed.subscriptionId);
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

/** @throws SecretBoxError when one of them does not open. */
function resealOf(sealed: SealedSecrets, secretBox: SecretBox): ResealedSecrets {
  const { subscriptionId, secret, previousSecret } = sealed;
  const reseal = (text: string): string => secretBox.seal(secretBox.open(text, subscriptionId), subscriptionId);
  return {
    subscriptionId,
    oldSecret: secret,
    secret: reseal(secret),
    previousSecret: previousSecret === null ? null : reseal(previousSecret),
  };
}

function textsOf({ secret, previousSecret }: SealedSecrets): string[] {
  return previousSecret === null ? [secret] : [secret, previousSecret];
}
