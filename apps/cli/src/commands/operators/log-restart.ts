import { asOwner, LogRestartStore, LogTileStore, type TransactionSql } from '@iss/persistence';
import { requireCheckpoint, withoutQuorum } from '@iss/proof';
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
import { Failure, UsageError } from '../../command';
import { defineCommand } from '../../define';
import { readWhole } from '../../files';
import { DATABASE_OPTION } from '../../doctor/log-keys';
import { trustedPolicy, TRUST_OPTIONS, TRUST_USAGE } from '../../trust/policy';
import { visible } from '../../visible';

/** In characters. The reason stays in the log forever. */
const MAX_REASON = 1_000;

export const logRestart = defineCommand({
  about:
    'docs/operations/log.md says when and how. It refuses if the database still has every entry of the checkpoint, has published a later checkpoint, or has used the name before. The old tree moves to log_archive_<n>_entries, _tiles and _checkpoints. Its entries are logged again, after an entry with the checkpoint and the reason. Writes continue meanwhile.',
  usage: `--checkpoint FILE ${TRUST_USAGE} --origin NAME --reason TEXT [--database-url URL]`,
  options: {
    ...TRUST_OPTIONS,
    checkpoint: {
      value: 'FILE',
      about: 'Last known checkpoint of the log.',
      required: '--checkpoint is missing: --checkpoint FILE, the last known checkpoint of the log.',
    },
    origin: {
      value: 'NAME',
      about: 'New LOG_ORIGIN.',
      required: '--origin is missing: --origin NAME, the new LOG_ORIGIN.',
    },
    reason: {
      value: 'TEXT',
      about: `Reason for the first entry of the new log: one line, at most ${MAX_REASON} characters.`,
      required: '--reason is missing: --reason TEXT.',
      read: reasonOf,
    },
    ...DATABASE_OPTION,
  },
  async run({ checkpoint: file, origin, reason, 'database-url': databaseUrl }, { env, print }, options) {
    requireKeyName(origin);
    const policy = withoutQuorum(trustedPolicy(options));
    const note = decodeUtf8(readWhole(file, 'checkpoint', MAX_NOTE_LENGTH));
    const { checkpoint } = await requireCheckpoint(note, policy, file);
    const { restartId, entries } = await asOwner(databaseUrl ?? (await env()).databaseUrl, async (sql) => {
      await requireLost(sql, checkpoint, origin);
      return new LogRestartStore(sql).restart({
        origin,
        previousOrigin: checkpoint.origin,
        previousSize: checkpoint.size,
        previousRoot: Buffer.from(checkpoint.root),
        previousCheckpoint: note,
        reason,
      });
    });
    print(
      [
        `The log ${visible(checkpoint.origin)} has ended with ${checkpoint.size} entries. The database has ${entries} of them. They will be`,
        `logged again as ${visible(origin)}, after an entry about the restart. The old tree is in log_archive_${restartId}_….`,
        'Now set LOG_ORIGIN and LOG_SIGNING_KEY of the workers, start them, and publish the new verifier key.',
      ].join('\n'),
    );
  },
});

function reasonOf(reason: string): string {
  if (reason.trim() === '' || reason.length > MAX_REASON || /[\p{Cc}\p{Cs}]/u.test(reason)) {
    throw new UsageError(`--reason takes one line of text, of at most ${MAX_REASON} characters.`);
  }
  return reason;
}

/** Requires that entries of the log are lost. Restarting an intact log would show verifiers two histories. @throws Failure */
async function requireLost(sql: TransactionSql, last: Checkpoint, origin: string): Promise<void> {
  const restarts = new LogRestartStore(sql);
  const before = await restarts.before();
  if (before.origin !== null && before.origin !== last.origin) {
    throw new Failure(
      `The checkpoint is of the log ${visible(last.origin)}, but the database has ${visible(before.origin)}. Name the last checkpoint of that log.`,
    );
  }
  if (origin === last.origin || (await restarts.isFormer(origin))) {
    throw new Failure(`The log already had the name ${visible(origin)}. Choose a new name.`);
  }
  if (before.isBusy) {
    throw new Failure('Entries of the previous restart still wait to be logged. Run a worker until they are logged.');
  }
  if (before.publishedSize !== null && before.publishedSize > last.size) {
    throw new Failure(
      `The database has published a later checkpoint, of ${before.publishedSize} entries. This one has ${last.size}. Name the last one.`,
    );
  }
  if (last.size <= before.size && equalBytes(await rootAt(sql, last.size), last.root)) {
    throw new Failure(
      `Nothing is lost: the database has all ${last.size} entries of the checkpoint, unchanged. Start the worker.`,
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
