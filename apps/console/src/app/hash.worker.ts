import type { JsonValue } from '@iss/domain/pure';
import { hashOf } from './hash-of.ts';
import { serve } from './worker-side.ts';

serve<JsonValue, never, string>(async (envelope) => hashOf(envelope));
