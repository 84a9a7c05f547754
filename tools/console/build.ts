import { reportError } from '../processes.ts';
import { buildConsole } from './console.ts';

/** `nx build console`. */
try {
  await buildConsole();
} catch (error) {
  process.exitCode = reportError(error);
}
