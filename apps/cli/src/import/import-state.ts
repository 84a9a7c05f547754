import { existsSync, readFileSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { UsageError } from '../command';
import { writeSynced } from '../files';
import { Members } from '@identity-state/client/bundle';

/** How far an import has come: all lines before have a result. */
export interface Place {
  /** Of the file: lines, empty ones included, and their bytes with their ends. */
  lines: number;
  bytes: number;
  /** Of those bytes: they have to be the same where it goes on. */
  sha256: string;
  stored: number;
  /** Stored before, as they are. */
  known: number;
  refused: number;
  /** Of the report: what stands behind was written, and not counted. */
  reportBytes: number;
}

export const BEGINNING: Place = {
  lines: 0,
  bytes: 0,
  sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  stored: 0,
  known: 0,
  refused: 0,
  reportBytes: 0,
};

/** Into what: a place in one import is none in another. */
interface Target {
  baseUrl: string;
  tenantId: string;
}

const FORMAT = 'iss_import_v1';

/** The place of an import, in a file beside what is imported, so that it goes on there whatever ended it. */
export class ImportState {
  private readonly file: string;

  constructor(
    archive: string,
    private readonly target: Target,
  ) {
    this.file = `${archive}.iss-import`;
  }

  /** The beginning where there is none. @throws UsageError where it is of another import */
  read(): Place {
    if (!existsSync(this.file)) return BEGINNING;
    const state = Members.parse(this.file, readFileSync(this.file));
    const [baseUrl, tenantId] = [state.text('base_url'), state.text('tenant')];
    if (state.text('format') !== FORMAT || baseUrl !== this.target.baseUrl || tenantId !== this.target.tenantId) {
      throw new UsageError(
        `${this.file} is of an import into ${tenantId} at ${baseUrl}: finish that, or forget it with --restart.`,
      );
    }
    return {
      lines: state.count('lines'),
      bytes: state.count('bytes'),
      sha256: state.text('sha256'),
      stored: state.count('stored'),
      known: state.count('known'),
      refused: state.count('refused'),
      reportBytes: state.count('report_bytes'),
    };
  }

  /** On the disk when it resolves; a crash leaves this place or the one before. */
  async write({ reportBytes, ...place }: Place): Promise<void> {
    const { baseUrl, tenantId } = this.target;
    const state = { format: FORMAT, base_url: baseUrl, tenant: tenantId, ...place, report_bytes: reportBytes };
    await writeSynced(`${this.file}.new`, `${JSON.stringify(state)}\n`, 'w');
    await rename(`${this.file}.new`, this.file);
  }

  forget(): void {
    rmSync(this.file, { force: true });
  }
}
