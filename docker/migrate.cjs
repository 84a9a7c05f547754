// `npm run db:migrate` for images, which hold no sources: one line for each migration, exit code 1 when one fails.
const { migrate } = require('@iss/persistence');
const { migrateQueue } = require('@iss/queue');

const { DATABASE_URL: databaseUrl, QUEUE_URL: queueUrl } = process.env;

async function main() {
  if (!databaseUrl) throw new Error('DATABASE_URL is missing: it names the database, as the owner of its tables.');
  const applied = await migrate(databaseUrl);
  // Without Redis the queue's tables stand in the same database.
  if (!queueUrl) await migrateQueue(databaseUrl);
  for (const name of applied) console.log(`applied ${name}`);
  console.log(applied.length === 0 ? 'The database is up to date.' : `${applied.length} applied.`);
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
