import { asOwner, LimitOverrideStore } from '@iss/persistence';
import { MAX_LIMIT_VALUE } from '@iss/platform';
import { type Command, type Options, textOf, UsageError } from '../command';
import { limitOf, OWNER_OPTIONS, OWNER_USAGE } from './limit-options';
import { requireTenant } from './require-tenant';

const MAX_REASON = 500;

export const setLimit: Command = {
  usage: `(${OWNER_USAGE}) --limit NAME --value N [--reason TEXT]`,
  options: {
    ...OWNER_OPTIONS,
    limit: { value: 'NAME', about: 'Name of the limit.' },
    value: { value: 'N', about: 'New value. 0 blocks everything.' },
    reason: { value: 'TEXT', about: 'Reason, shown by iss admin limits list.' },
  },
  async run(options, { env, print }) {
    const { owner, name } = limitOf(options);
    const value = valueOf(options);
    const reason = textOf(options, 'reason') ?? null;
    if (reason !== null && reason.length > MAX_REASON) {
      throw new UsageError(`--reason takes at most ${MAX_REASON} characters.`);
    }
    await asOwner((await env()).databaseUrl, async (sql) => {
      const overrides = new LimitOverrideStore(sql);
      await requireTenant(overrides, owner);
      await overrides.set(owner, name, value, reason);
    });
    print(`${name} of the ${owner.scope} ${owner.scopeId} is now ${value}.`);
  },
};

function valueOf(options: Options): number {
  const text = textOf(options, 'value') ?? '';
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value <= MAX_LIMIT_VALUE) return value;
  throw new UsageError(`--value takes a whole number from 0 to ${MAX_LIMIT_VALUE}. 0 blocks everything.`);
}
