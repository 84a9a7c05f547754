import { rmSync, statSync } from 'node:fs';
import { type Command, Failure, hasFlag, textOf, UsageError } from '../command';
import { systemCode } from '../files';
import { importArchive } from '../import/import-archive';
import { ImportState, type Place } from '../import/import-state';
import { JSON_OPTION, showOne } from '../output';
import { Progress } from '../progress';
import { asCaller, CALLER_OPTIONS } from '../service/caller';

/** Writes the versions of an archive. */
export const importFile: Command = {
  about:
    'An envelope a line, the versions of a subject in their order; each has a result of its own. How far it came stands beside the ' +
    'file (FILE.iss-import) after each batch: whatever ends it, kill -9 included, the same command goes on there, and what was stored ' +
    'without being told is known then. Lines that were refused are in FILE.refused.ndjson, each with its number and why; the exit ' +
    'code is 1 then.',
  arguments: [{ name: 'file', about: 'The archive, NDJSON.' }],
  options: {
    restart: { about: 'Begins anew, forgetting how far it came: what is stored already is known then.' },
    ...CALLER_OPTIONS,
    ...JSON_OPTION,
  },
  async run(options, context) {
    const file = textOf(options, 'file') ?? '';
    const size = sizeOf(file);
    const report = `${file}.refused.ndjson`;
    const { signal } = context;
    await asCaller(options, context, async ({ tenant, baseUrl }) => {
      const state = new ImportState(file, { baseUrl, tenantId: tenant.tenantId });
      if (hasFlag(options, 'restart')) state.forget();
      const progress = new Progress(context);
      let place: Place | null = null;
      const onPlace = (now: Place): void => {
        if (place === null && now.lines > 0) context.complain(`Going on behind line ${now.lines}.`);
        place = now;
        progress.show(size === 0 ? 1 : now.bytes / size, `line ${now.lines}, ${now.refused} refused`);
      };
      let end: Place;
      try {
        end = await importArchive(tenant, file, { state, report, signal, onPlace });
      } catch (error) {
        if (error instanceof UsageError) throw error;
        context.complain(`The lines up to ${lineOf(place)} have a result: the same command goes on there.`);
        if (signal.aborted) throw new Failure('The import was ended before its end.');
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
        () => `${lines} lines: ${stored} stored, ${known} known already, ${refused} refused`,
      );
      if (refused > 0) throw new Failure(`${refused} of ${lines} lines were refused: ${report} says why.`);
    });
  },
};

function lineOf(place: Place | null): number {
  return place?.lines ?? 0;
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw new UsageError(
      `${file} cannot be read (${systemCode(error) ?? String(error)}): name the file of the archive.`,
    );
  }
}
