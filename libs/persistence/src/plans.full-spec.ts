import './index';
import { explainable } from './testing/plans';
import { requireSamePlans } from './testing/same-plans';
import { TABLE_STATES } from './testing/statistics';

it('PostgreSQL makes the same plans for any statistics', async () => {
  await requireSamePlans(explainable(), TABLE_STATES);
});
