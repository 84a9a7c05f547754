import stopServices from '../../../../tools/testing/global-teardown.ts';
import { started } from './global-setup.ts';

export default async function globalTeardown(): Promise<void> {
  await started.product?.close();
  await stopServices();
}
