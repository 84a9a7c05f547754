import { type ArchiveSettings, ObjectMissing, openArchive, type TextArchive } from '@iss/archive';
import {
  archivedTexts,
  archiveStatus as readStatus,
  type ArchivedText,
  asOwner,
  restoreTexts,
  storedPacks,
} from '@iss/persistence';
import { archiveUrlFault } from '@iss/platform';
import { type CommandContext, Failure, UsageError } from '../../command';
import { defineCommand } from '../../define';
import { JSON_OPTION, showOne, table } from '../../output';

/** The most versions that text output names. */
const SHOWN = 20;
const PROGRESS_MS = 2_000;

export const archiveStatus = defineCommand({
  about: 'It reads the database and checks that the store answers. It changes nothing.',
  options: JSON_OPTION,
  run: (_values, context, options) =>
    withArchive(context, async (archive, databaseUrl) => {
      const answers = await archive.ping().then(
        () => true,
        () => false,
      );
      const packs = await asOwner(databaseUrl, readStatus);
      const rows = packs.map(({ oldestUnused, ...row }) => ({
        ...row,
        oldest_unused: oldestUnused?.toISOString() ?? null,
      }));
      showOne(options, context, { answers, packs: rows }, () =>
        [rows.length === 0 ? 'Nothing was archived yet.' : table(rows), answers ? 'The archive answers.' : '']
          .join('\n')
          .trim(),
      );
      if (!answers) throw new Failure('The archive does not answer. Check ARCHIVE_URL, its credentials and the store.');
    }),
});

export const archiveVerify = defineCommand({
  about:
    'It reads every archived text, and compares it with the hash of its version. It changes nothing. A damaged text is listed, and the exit code is 1.',
  options: JSON_OPTION,
  run: (_values, context, options) =>
    withArchive(context, async (archive, databaseUrl) => {
      const { texts, damaged } = await verifyArchive(archive, databaseUrl, context.complain);
      const { mirrored } = archive.outcomes;
      const report = { texts, from_the_second_store: mirrored, damaged: damaged.map(nameOf) };
      showOne(options, context, report, () =>
        [
          `Verified ${texts} archived texts.`,
          ...(mirrored > 0
            ? [`The first store lacks or has damaged ${mirrored} of them; the second store has them.`]
            : []),
          ...damaged.slice(0, SHOWN).map((version) => `  damaged: ${nameOf(version)}`),
        ].join('\n'),
      );
      if (damaged.length > 0) throw new Failure(`Damaged texts: ${damaged.length}. ${REMEDY}`);
    }),
});

export const archiveRestore = defineCommand({
  about:
    'It returns all archived texts to the database. First remove ARCHIVE_URL from the workers, because they would archive the texts again. Gateways need it until the command has ended.',
  options: { all: { about: 'Restore all texts.' }, ...JSON_OPTION },
  run: ({ all }, context, options) =>
    withArchive(context, async (archive, databaseUrl) => {
      if (!all) throw new UsageError('It restores everything. Check that the database has the space, and add --all.');
      const damaged: ArchivedText['version'][] = [];
      let restored = 0;
      await asOwner(databaseUrl, async (sql) => {
        const progress = progressOf(context.complain);
        for await (const texts of archivedTexts(sql, archive)) {
          restored += await restoreTexts(sql, texts);
          damaged.push(...texts.filter(({ text }) => text === null).map(({ version }) => version));
          progress(restored);
        }
      });
      showOne(options, context, { restored, damaged: damaged.map(nameOf) }, () => `Restored ${restored} texts.`);
      if (damaged.length > 0) {
        const names = damaged.slice(0, SHOWN).map(nameOf).join('; ');
        throw new Failure(`Damaged texts that stay in the archive: ${damaged.length} (${names}). ${REMEDY}`);
      }
    }),
});

export const archiveMove = defineCommand({
  about:
    'It copies all packs to another store, and compares every archived text there with the hash of its version. Packs that are already there are not copied again, so repeat it after an interruption. First set ARCHIVE_MIRROR_URL of workers and gateways to the other store, so that new packs are in both. Make it ARCHIVE_URL afterwards.',
  options: {
    to: {
      about: 'The other store, as in ARCHIVE_URL. The AWS_… variables are for both.',
      value: 'URL',
      required: '--to is missing: --to URL, such as s3://bucket/prefix.',
      read: storeUrl,
    },
    ...JSON_OPTION,
  },
  run: ({ to }, context, options) =>
    withArchive(context, async (archive, databaseUrl) => {
      const other = await openArchive({ url: to, mirrorUrl: undefined });
      try {
        const { copied, present, lost } = await copyPacks(archive, other, databaseUrl, context.complain);
        const { texts, damaged } = await verifyArchive(other, databaseUrl, context.complain);
        showOne(options, context, { copied, present, lost, texts, damaged: damaged.map(nameOf) }, () =>
          [
            `Copied ${copied} packs; ${present} were there. Verified ${texts} archived texts in the other store.`,
            ...damaged.slice(0, SHOWN).map((version) => `  damaged: ${nameOf(version)}`),
          ].join('\n'),
        );
        if (lost.length + damaged.length > 0) {
          throw new Failure(
            `Lost packs: ${lost.length}. Damaged texts in the other store: ${damaged.length}. ${REMEDY}`,
          );
        }
      } finally {
        other.close();
      }
    }),
});

const REMEDY = 'docs/operations/archive.md, "Damaged bytes", says what to do.';

/** Copies the packs that the other archive lacks. `lost` are those with texts that no store has. */
async function copyPacks(
  archive: TextArchive,
  other: TextArchive,
  databaseUrl: string,
  complain: (text: string) => void,
): Promise<{ copied: number; present: number; lost: string[] }> {
  const packs = { copied: 0, present: 0 };
  const lost: string[] = [];
  const progress = progressOf(complain, 'packs');
  await asOwner(databaseUrl, async (sql) => {
    for await (const { object, bytes, texts } of storedPacks(sql)) {
      try {
        packs[await archive.copy(object, bytes, other)] += 1;
      } catch (error) {
        if (!(error instanceof ObjectMissing)) throw error;
        if (texts > 0) lost.push(object);
      }
      progress(packs.copied + packs.present);
    }
  });
  return { ...packs, lost };
}

/** Reads all archived texts, and returns how many there are and the damaged ones. */
async function verifyArchive(
  archive: TextArchive,
  databaseUrl: string,
  complain: (text: string) => void,
): Promise<{ texts: number; damaged: ArchivedText['version'][] }> {
  const damaged: ArchivedText['version'][] = [];
  let texts = 0;
  const progress = progressOf(complain);
  await asOwner(databaseUrl, async (sql) => {
    for await (const read of archivedTexts(sql, archive)) {
      texts += read.length;
      damaged.push(...read.filter(({ text }) => text === null).map(({ version }) => version));
      progress(texts);
    }
  });
  return { texts, damaged };
}

/** Opens the archive of the environment. Throws UsageError if none is set. */
async function withArchive(
  { env }: Pick<CommandContext, 'env'>,
  work: (archive: TextArchive, databaseUrl: string) => Promise<void>,
): Promise<void> {
  const archive = await openArchive(await archiveSettings(env));
  const { databaseUrl } = await env();
  try {
    await work(archive, databaseUrl);
  } finally {
    archive.close();
  }
}

/** Returns the stores of the environment. Throws UsageError if none is set. */
export async function archiveSettings(env: CommandContext['env']): Promise<ArchiveSettings> {
  const { archive } = await env();
  if (archive !== null) return archive;
  throw new UsageError('No archive is configured. Set ARCHIVE_URL, as workers and gateways have it.');
}

function progressOf(complain: (text: string) => void, what = 'texts'): (count: number) => void {
  let toldAtMs = performance.now();
  return (count) => {
    if (performance.now() - toldAtMs < PROGRESS_MS) return;
    toldAtMs = performance.now();
    complain(`${count} ${what}`);
  };
}

/** @throws UsageError if it is no URL of a store */
function storeUrl(text: string, name: string): string {
  const fault = archiveUrlFault(text);
  if (fault !== undefined) throw new UsageError(`--${name} ${fault}.`);
  return text;
}

function nameOf({ subjectType, subjectId, snapshotVersion, snapshotId }: ArchivedText['version']): string {
  return `version ${snapshotVersion} of ${subjectType}/${subjectId} (snapshot ${snapshotId})`;
}
