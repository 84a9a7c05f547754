import { reportError } from '../processes.ts';
import { loadDotEnv, requireRun } from './data-folder.ts';

/** `npm run -s status`: where everything is, as JSON. */
try {
  loadDotEnv();
  console.log(JSON.stringify(requireRun().status, null, 2));
} catch (error) {
  process.exitCode = reportError(error);
}
