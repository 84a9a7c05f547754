import { existsSync, readFileSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { UsageError } from '../command';
import { writeSynced } from '../files';
import { Members } from '@iss/proof';

/** The progress of an import. All lines before it have a result. */
export interface ImportPlace {
  /** Lines of the archive, including empty ones. */
  lines: number;
  /** Bytes of these lines, with line ends. */
  bytes: number;
  /** Hash of these bytes, which must be unchanged when the import continues. */
  sha256: string;
  stored: number;
  /** Versions that were already stored. */
  known: number;
  refused: number;
  /** Size of the report. Content after this size will be written again. */
  reportBytes: number;
}

export const BEGINNING: ImportPlace = {
  lines: 0,
  bytes: 0,
  sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  stored: 0,
  known: 0,
  refused: 0,
  reportBytes: 0,
};

/** The target of the import, to which a saved place belongs. */
interface Target {
  baseUrl: string;
  tenantId: string;
}

const FORMAT = 'iss_import_v1';

/** A file beside the archive with the progress of an import, so that the import can continue. */
export class ImportState {
  private readonly file: string;

  constructor(
    archive: string,
    private readonly target: Target,
  ) {
    this.file = `${archive}.iss-import`;
  }

  /** Returns the saved place, or the beginning. @throws UsageError if it belongs to another import */
  read(): ImportPlace {
    if (!existsSync(this.file)) return BEGINNING;
    const state = Members.parse(this.file, readFileSync(this.file));
    const [baseUrl, tenantId] = [state.text('base_url'), state.text('tenant')];
    if (state.text('format') !== FORMAT || baseUrl !== this.target.baseUrl || tenantId !== this.target.tenantId) {
      throw new UsageError(
        `${this.file} belongs to an import into ${tenantId} at ${baseUrl}. Finish that import, or discard it with --restart.`,
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

  /** Saves the place atomically and syncs it to disk. */
  async write({ reportBytes, ...place }: ImportPlace): Promise<void> {
    const { baseUrl, tenantId } = this.target;
    const state = { format: FORMAT, base_url: baseUrl, tenant: tenantId, ...place, report_bytes: reportBytes };
    await writeSynced(`${this.file}.new`, `${JSON.stringify(state)}\n`, 'w');
    await rename(`${this.file}.new`, this.file);
  }

  forget(): void {
    rmSync(this.file, { force: true });
  }
}
