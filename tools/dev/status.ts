import { reportError } from '../processes.ts';
import { loadDotEnv, requireRun } from './data-folder.ts';

/** `npm run -s status`: prints the addresses of the service as JSON. */
try {
  loadDotEnv();
  console.log(JSON.stringify(requireRun().status, null, 2));
} catch (error) {
  process.exitCode = reportError(error);
}
