import { reportError } from '../processes.ts';
import { buildConsole } from './console.ts';

/** `nx build console`. A caller's NODE_ENV, for example that of tests, would otherwise give React's development form. */
process.env.NODE_ENV = 'production';
try {
  await buildConsole();
} catch (error) {
  process.exitCode = reportError(error);
}
