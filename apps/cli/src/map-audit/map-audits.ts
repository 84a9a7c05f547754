import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@iss/platform';
import type { Checkpoint } from '@iss/tlog';
import { Failure } from '../command';
import { systemCode } from '../files';
import type { CosignCheck } from '../witness/witness';
import type { WitnessedLog } from '../witness/witness-files';
import { MapAudit } from './map-audit';
import { MapFile } from './map-file';
import { PublicLog } from './public-log';
import { AuditRefusal } from './refusal';

/** A log waits 5 seconds for its witness. A longer audit continues, and the next request gets its result. */
const ANSWER_WITHIN_MS = 4_000;

/** The audits of several logs, each with its rebuilt map in one file of a folder. */
export class MapAudits {
  private readonly byOrigin: ReadonlyMap<string, OneAudit>;
  private readonly files: MapFile[] = [];
  private readonly ending = new AbortController();

  /** @throws Failure if a log has no URL, or the folder cannot be used */
  constructor(
    folder: string,
    logs: readonly WitnessedLog[],
    private readonly logger: Logger,
    private readonly answerWithinMs = ANSWER_WITHIN_MS,
  ) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new Failure(`${folder} (--audit-map) cannot be made (${systemCode(error) ?? String(error)}).`);
    }
    const urls = new Map(logs.map(({ key: { name }, url }) => [name, url]));
    this.byOrigin = new Map([...urls].map(([origin, url]) => [origin, this.auditOf(folder, origin, url)]));
  }

  /** Audits a checkpoint. Refuses with 403 if the log is wrong, with 503 if that is not known yet. */
  readonly audit: CosignCheck = async (checkpoint: Checkpoint) => {
    const one = this.byOrigin.get(checkpoint.origin);
    try {
      await one?.within(this.answerWithinMs, checkpoint);
      return null;
    } catch (error) {
      if (error instanceof AuditRefusal) return { status: 403, message: error.message };
      if (error instanceof Failure) return { status: 503, message: error.message };
      throw error;
    }
  };

  /** Stops running audits. */
  async close(): Promise<void> {
    this.ending.abort();
    await Promise.all([...this.byOrigin.values()].map((one) => one.ended()));
    for (const file of this.files) file.close();
  }

  private auditOf(folder: string, origin: string, url: string | null): OneAudit {
    if (url === null) {
      throw new Failure(
        `The line of the log ${origin} (--logs) has no URL. Write the URL prefix of the log after its key.`,
      );
    }
    const name = createHash('sha256').update(origin).digest('hex');
    const file = MapFile.open(join(folder, name), origin);
    this.files.push(file);
    return new OneAudit(
      new MapAudit(origin, new PublicLog(url, this.ending.signal), file, (doubled) =>
        this.logger.warn({ origin, ...doubled }, 'A key is in several entries: the operator logged one number twice'),
      ),
    );
  }
}

/** The audit of one log. Requests wait for the running one. */
class OneAudit {
  private running: Promise<void> | undefined;

  constructor(private readonly map: MapAudit) {}

  /** @throws Failure if the audit takes longer; it continues */
  async within(limitMs: number, checkpoint: Checkpoint): Promise<void> {
    const timeout = new AbortController();
    const late = pause(limitMs, true, { signal: timeout.signal }).catch(() => false);
    try {
      while (this.running !== undefined) {
        if (await Promise.race([late, this.ended().then(() => false)])) throw stillAuditing();
      }
      const running = this.map.audit(checkpoint);
      this.running = running.finally(() => (this.running = undefined));
      this.running.catch(() => undefined);
      if (await Promise.race([late, running.then(() => false)])) throw stillAuditing();
    } finally {
      timeout.abort();
    }
  }

  /** Resolves when no audit runs. */
  async ended(): Promise<void> {
    await this.running?.catch(() => undefined);
  }
}

function stillAuditing(): Failure {
  return new Failure('The audit of the map is still running. Send the checkpoint again.');
}
