import { DamagedText } from '@iss/persistence';
import { Registry } from 'prom-client';
import { damagedTexts } from './damaged-texts';

it('damagedTexts counts a damaged text and logs the version to restore', async () => {
  const lines: unknown[] = [];
  const metrics = new Registry();
  const report = damagedTexts(metrics, { error: (...line: unknown[]) => void lines.push(line) });
  const version = { subjectType: 'organization', subjectId: 'acme', snapshotId: 's-3', snapshotVersion: 3 };
  report(Object.assign(Object.create(DamagedText.prototype), { snapshot: version, damage: 'hash' }));
  expect(lines).toEqual([
    [
      { subject_type: 'organization', subject_id: 'acme', snapshot_id: 's-3', snapshot_version: 3, damage: 'hash' },
      'A stored text is damaged',
    ],
  ]);
  expect(await metrics.getSingleMetricAsString('damaged_texts_total')).toMatch(/^damaged_texts_total 1$/m);
});
