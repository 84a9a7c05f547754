/** Stands before the UUID of a subscription wherever its id is shown; path parameters take the bare UUID too. */
export const SUBSCRIPTION_PREFIX = 'wsub_';

/** The public id of a subscription whose stored id is a bare UUID. */
export function subscriptionIdOf(uuid: string): string {
  return `${SUBSCRIPTION_PREFIX}${uuid}`;
}
