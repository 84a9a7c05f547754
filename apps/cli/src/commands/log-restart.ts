import { asOwner, LogRestartStore, LogTileStore, type TransactionSql } from '@iss/persistence';
import {
  type Checkpoint,
  decodeUtf8,
  equalBytes,
  MAX_NOTE_LENGTH,
  readRoot,
  requireKeyName,
  TileHashes,
  tileHashReader,
} from '@iss/tlog';
import { type Command, Failure, type Options, requiredText, textOf, UsageError } from '../command';
import { readWhole } from '../files';
import { requireCheckpoint } from '../trust/checkpoint';
import { policyOf, TRUST_OPTIONS, TRUST_USAGE, withoutQuorum } from '../trust/policy';
import { visible } from '../visible';

/** Characters: it is for people, and in an entry for ever. */
const MAX_REASON = 1_000;

/** Begins a log anew under another name, whose end is lost for good. */
export const restartLog: Command = {
  usage: `--checkpoint FILE ${TRUST_USAGE} --origin NAME --reason TEXT [--database-url URL]`,
  options: {
    ...TRUST_OPTIONS,
    checkpoint: { value: 'FILE', about: 'The last checkpoint of the log that is known.' },
    origin: { value: 'NAME', about: 'LOG_ORIGIN from now on.' },
    reason: { value: 'TEXT', about: 'Why: a line, which stands in the new log’s first entry.' },
    'database-url': { value: 'URL', about: 'The database: DATABASE_URL where it is left out.' },
  },
  async run(options, { env, print }) {
    const file = requiredText(options, 'checkpoint', 'FILE, the last checkpoint of the log that is known');
    const origin = requiredText(options, 'origin', 'NAME, the LOG_ORIGIN from now on');
    const reason = reasonOf(options);
    requireKeyName(origin);
    const policy = withoutQuorum(policyOf(options));
    const note = decodeUtf8(readWhole(file, 'checkpoint', MAX_NOTE_LENGTH));
    const { checkpoint } = await requireCheckpoint(note, policy, file);
    const { restartId, entries } = await asOwner(
      textOf(options, 'database-url') ?? (await env()).databaseUrl,
      async (sql) => {
        await requireLost(sql, checkpoint, origin);
        return new LogRestartStore(sql).restart({
          origin,
          previousOrigin: checkpoint.origin,
          previousSize: checkpoint.size,
          previousRoot: Buffer.from(checkpoint.root),
          previousCheckpoint: note,
          reason,
        });
      },
    );
    print(
      [
        `The log ${visible(checkpoint.origin)} has ended with ${checkpoint.size} entries. Its ${entries} that the database has`,
        `wait to be logged anew as ${visible(origin)}, behind the entry that says so. What was there is in log_archive_${restartId}_….`,
        'Now set LOG_ORIGIN and LOG_SIGNING_KEY of the workers, start them, and tell everybody the new verifier key.',
      ].join('\n'),
    );
  },
};

function reasonOf(options: Options): string {
  const reason = requiredText(options, 'reason', 'TEXT, for everybody who will ask why');
  if (reason.trim() === '' || reason.length > MAX_REASON || /[\p{Cc}\p{Cs}]/u.test(reason)) {
    throw new UsageError(`--reason takes a line of text, of at most ${MAX_REASON} characters.`);
  }
  return reason;
}

/** A log that goes on may not be ended: whoever trusts it would see two. */
async function requireLost(sql: TransactionSql, last: Checkpoint, origin: string): Promise<void> {
  const restarts = new LogRestartStore(sql);
  const before = await restarts.before();
  if (before.origin !== null && before.origin !== last.origin) {
    throw new Failure(
      `The database has the log ${visible(before.origin)}, and the checkpoint is of ${visible(last.origin)}: name that log’s last one.`,
    );
  }
  if (origin === last.origin || (await restarts.isFormer(origin))) {
    throw new Failure(`The log was called ${visible(origin)} already: choose a name that it never had.`);
  }
  if (before.isBusy) {
    throw new Failure('What was there before still waits to be logged. Let a worker run until it has integrated it.');
  }
  if (before.publishedSize !== null && before.publishedSize > last.size) {
    throw new Failure(
      `The database has published a checkpoint of ${before.publishedSize} entries, and this one is of ${last.size}: name the last one.`,
    );
  }
  if (last.size <= before.size && equalBytes(await rootAt(sql, last.size), last.root)) {
    throw new Failure(
      `Nothing is lost: the database has the ${last.size} entries that were signed, as they were signed. Start the worker.`,
    );
  }
}

function rootAt(sql: TransactionSql, size: number): Promise<Uint8Array> {
  const tiles = new LogTileStore(sql);
  return readRoot(
    size,
    tileHashReader(size, async (wanted) => (await tiles.read(wanted)).map((hashes) => new TileHashes(hashes))),
  );
}
