import { loadEnvironment } from '../environment.ts';
import { reportError, UserError } from '../processes.ts';

/** `npm run tool -- db/rotate-keys`: reseals secrets. Put the new key first in SECRETS_KEYS and restart both apps before. */
try {
  await loadEnvironment();
  const [{ openDatabase, SealedSecretStore }, { APP_ROLES, EnvError, sharedEnv }, { resealSecrets }] =
    await Promise.all([import('@iss/persistence'), import('@iss/platform'), import('./reseal-secrets.ts')]);
  try {
    const { databaseUrl: url, secretBox } = sharedEnv();
    const database = await openDatabase({ url, role: APP_ROLES.gateway, poolSize: 1, applicationName: 'rotate-keys' });
    const rotation = await resealSecrets(new SealedSecretStore(database.sql), secretBox);
    const keys = await resealSecrets(new SealedSecretStore(database.sql, 'issuing_keys'), secretBox);
    await database.close();
    console.log(`Subscriptions resealed with the key ${secretBox.currentKeyId}: ${rotation.resealed}.`);
    console.log(`Subscriptions without a change: ${rotation.current}.`);
    console.log(`Issuing keys resealed: ${keys.resealed}; without a change: ${keys.current}.`);
    const unusedKeyIds = rotation.unusedKeyIds.filter((id) => keys.unusedKeyIds.includes(id));
    if (unusedKeyIds.length > 0) {
      console.log(
        `No webhook secret and no issuing key needs these keys any more: ${unusedKeyIds.join(', ')}. Remove them from SECRETS_KEYS once ` +
          'both apps have used the new first key for 24 hours, since stored answers to an Idempotency-Key are sealed too.',
      );
    }
    const unopened = [...rotation.unopened, ...keys.unopened];
    if (unopened.length > 0) {
      throw new UserError(
        `These keys cannot open the secrets of ${unopened.length} subscriptions and issuing keys, which are unchanged: ${unopened.join(', ')}.`,
      );
    }
  } catch (error) {
    throw error instanceof EnvError ? new UserError(error.message) : error;
  }
} catch (error) {
  process.exitCode = reportError(error);
}
