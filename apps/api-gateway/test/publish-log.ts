/**
 * Integrates everything that waits into the log of a database and into the feeds, and publishes a checkpoint, as a worker
 * does. Returns the verifier key and the size of the log. With a secret VRF key, the log has a map. Publishes no checkpoint if
 * `publishes` is false, and commits to no views if `commitsViews` is false, as earlier releases did.
 */
export async function publishLog(
  databaseUrl: string,
  vrfSecret?: string,
  publishes = true,
  commitsViews = true,
): Promise<{ vkey: string; size: number }> {
  return (await productHost()).publishLog(databaseUrl, vrfSecret, publishes, commitsViews);
}
