import type { api, Tenant } from '@identity-state/client';
import { type Command, textOf, UsageError } from '../command';
import { LIST_OPTIONS, showList, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { SUBJECT_ARGUMENT, subjectOf } from '../service/subject-name';
import { visible } from '../visible';

const STATUSES: readonly api.Update['status'][] = ['proposed', 'applied', 'withdrawn'];
/** The most changed paths per row. */
const SHOWN_PATHS = 2;

export const proposals: Command = {
  arguments: [{ ...SUBJECT_ARGUMENT, isOptional: true }],
  options: {
    status: {
      value: 'STATUS',
      about: `${STATUSES.join(', ')} (default: proposed).`,
      choices: STATUSES,
    },
    ...LIST_OPTIONS,
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const named = textOf(options, 'subject');
    const status = statusOf(textOf(options, 'status') ?? 'proposed');
    const style = styleOf(context.screen);
    await asCaller(options, context, ({ tenant }) =>
      showList(options, context, updatesOf(tenant, named, status), {
        none: `There are no ${status} proposals.`,
        paint: { update: style.yellow },
        asRow: (update) => ({
          name: visible(update.name ?? ''),
          update: update.update_id,
          subject: visible(`${update.subject_type}/${update.subject_id}@${update.base_snapshot_version}`),
          by: visible(update.initiated_by ?? update.proposed_by),
          at: update.created_at,
          changes: changesOf(update),
        }),
      }),
    );
  },
};

function updatesOf(tenant: Tenant, named: string | undefined, status: api.Update['status']): AsyncIterable<api.Update> {
  if (named === undefined) return tenant.updates({ status });
  const { type, id } = subjectOf(named);
  return tenant.subject(type, id).updates({ status });
}

function statusOf(text: string): api.Update['status'] {
  const status = STATUSES.find((one) => one === text);
  if (status === undefined) throw new UsageError(`--status takes one of ${STATUSES.join(', ')}.`);
  return status;
}

function changesOf({ patch_ops: operations }: api.Update): string {
  if (operations === null) return 'erased';
  const paths = operations.map(({ path }) => path).filter((path) => path.startsWith('/attributes/'));
  if (paths.length === 0) return 'evidence only';
  return `${paths.slice(0, SHOWN_PATHS).map(visible).join(', ')}${paths.length > SHOWN_PATHS ? ', …' : ''}`;
}
