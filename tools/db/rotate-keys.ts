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
    await database.close();
    console.log(`${rotation.resealed} subscriptions sealed anew under the key ${secretBox.currentKeyId}.`);
    console.log(`${rotation.current} had nothing to change.`);
    if (rotation.unusedKeyIds.length > 0) {
      console.log(
        `No webhook secret needs these keys any more: ${rotation.unusedKeyIds.join(', ')}. Drop them from SECRETS_KEYS ` +
          'when both apps have had the new first key for 24 hours: answers to an Idempotency-Key are sealed as well.',
      );
    }
    if (rotation.unopened.length > 0) {
      throw new UserError(
        `${rotation.unopened.length} do not open with this ring and stay as they are: ${rotation.unopened.join(', ')}.`,
      );
    }
  } catch (error) {
    throw error instanceof EnvError ? new UserError(error.message) : error;
  }
} catch (error) {
  process.exitCode = reportError(error);
}
