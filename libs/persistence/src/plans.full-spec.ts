import './index';
import { explainable } from './testing/plans';
import { requireSamePlans } from './testing/same-plans';
import { TABLE_STATES } from './testing/statistics';

it('plans the same whatever statistics say', async () => {
  await requireSamePlans(explainable(), TABLE_STATES);
}, 240_000);
