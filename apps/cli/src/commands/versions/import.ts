import { rmSync, statSync } from 'node:fs';
import { convertBods } from '../../import/convert-bods';
import { Failure, UsageError } from '../../command';
import { defineCommand } from '../../define';
import { systemCode } from '../../files';
import { importArchive } from '../../import/import-archive';
import { ImportState, type ImportPlace } from '../../import/import-state';
import { JSON_OPTION, showOne } from '../../output';
import { Progress } from '../../import/progress';
import { asCaller, CALLER_OPTIONS } from '../../service/caller';

const importFile = defineCommand({
  about:
    'Each line holds one envelope. The versions of a subject must be in order. iss saves its progress in FILE.iss-import after each batch. Run the command again to continue an interrupted import. Versions that are already stored count as known. Refused lines are written to FILE.refused.ndjson with their reasons, and the exit code is 1.',
  arguments: { file: { about: 'NDJSON archive.' } },
  options: {
    format: {
      value: 'FORMAT',
      choices: ['bods'],
      about:
        'bods: FILE has statements of BODS 0.4, as an array or one per line. iss writes FILE.envelopes.ndjson and imports that.',
    },
    prefix: {
      value: 'PREFIX',
      about: 'With --format bods: what the ids of the new subjects begin with, such as acme:.',
    },
    restart: { about: 'Discard the saved progress and start at the first line.' },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run({ file: given, format, prefix, restart }, context, options) {
    if (format === undefined && prefix !== undefined) throw new UsageError('--prefix needs --format bods.');
    const file = format === undefined ? given : convertBods(given, prefix ?? '');
    const size = sizeOf(file);
    const report = `${file}.refused.ndjson`;
    const { signal } = context;
    await asCaller(options, context, async ({ tenant, baseUrl }) => {
      const state = new ImportState(file, { baseUrl, tenantId: tenant.tenantId });
      if (restart) state.forget();
      const progress = new Progress(context);
      let place: ImportPlace | null = null;
      const onPlace = (now: ImportPlace): void => {
        if (place === null && now.lines > 0) context.complain(`Continuing after line ${now.lines}.`);
        place = now;
        progress.show(size === 0 ? 1 : now.bytes / size, `line ${now.lines}, ${now.refused} refused`);
      };
      let end: ImportPlace;
      try {
        end = await importArchive(tenant, file, { state, report, signal, onPlace });
      } catch (error) {
        if (error instanceof UsageError) throw error;
        context.complain(`The lines up to ${lineOf(place)} are done. Run the same command again to continue.`);
        if (signal.aborted) throw new Failure('The import was interrupted.');
        throw error;
      }
      state.forget();
      if (end.refused === 0) rmSync(report, { force: true });
      const { lines, stored, known, refused } = end;
      const shown = { lines, stored, known, refused, report: refused === 0 ? null : report };
      showOne(
        options,
        context,
        shown,
        () => `${lines} lines: ${stored} stored, ${known} already known, ${refused} refused`,
      );
      if (refused > 0) throw new Failure(`${refused} of ${lines} lines were refused. ${report} has the reasons.`);
    });
  },
});
export { importFile as import };

function lineOf(place: ImportPlace | null): number {
  return place?.lines ?? 0;
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${systemCode(error) ?? String(error)}). Name the archive file.`);
  }
}
