import { DamagedText } from '@iss/persistence';
import type { Logger } from '@iss/platform';
import { Counter, type Registry } from 'prom-client';

/** Counts and logs each damaged text. */
export function damagedTexts(metrics: Registry, logger: Pick<Logger, 'error'>): (found: unknown) => void {
  const damaged = new Counter({
    name: 'damaged_texts_total',
    help: 'Reads of a stored text that differs from the text that was written',
    registers: [metrics],
  });
  return (found) => {
    damaged.inc();
    if (!(found instanceof DamagedText)) return;
    const { subjectType, subjectId, snapshotId, snapshotVersion } = found.snapshot;
    logger.error(
      {
        subject_type: subjectType,
        subject_id: subjectId,
        snapshot_id: snapshotId,
        snapshot_version: snapshotVersion,
        damage: found.damage,
      },
      'A stored text is damaged',
    );
  };
}
