import { useState } from 'react';
import { apiCall, useAction } from '../../app/api.ts';
import { FormDialog, instantOf, MomentField, useForm } from '../../forms/form.tsx';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { Notice } from '../../ui/page.tsx';
import { OF_SUBSCRIPTION, subscriptionPath } from './webhooks.ts';
import { TEXT } from './words.ts';

const WORDS = TEXT.replaying;
const STATUSES = ['', 'dead', 'skipped', 'succeeded'] as const;

interface Values extends Record<string, string> {
  readonly from: string;
  readonly to: string;
  readonly status: (typeof STATUSES)[number];
}

/** Sends the finished deliveries of a period again, with further requests for a long period. */
export function ReplayDialog({ subscriptionId, onClose }: { subscriptionId: string; onClose: () => void }) {
  const action = useAction<{ count: number; next_from: string | null }>(subscriptionPath(subscriptionId));
  const [count, setCount] = useState(0);
  const callOf = (start: string, { to: end, status }: Values) => {
    const to = instantOf(end);
    return apiCall('POST', `${OF_SUBSCRIPTION}/deliveries/replay`, {
      path: { subscription_id: subscriptionId },
      body: { from: start, ...(to === null ? {} : { to }), ...(status === '' ? {} : { status }) },
    });
  };
  const start: Values = { from: '', to: '', status: '' };
  const form = useForm({
    start,
    action,
    callOf: (values) => callOf(instantOf(values.from) ?? '', values),
    faultsOf: ({ from }) => ({ from: from === '' ? WORDS.noFrom : undefined }),
    onDone: (answer) => setCount(answer.count),
  });
  const rest = action.data?.next_from ?? null;
  return (
    <FormDialog
      title={WORDS.title}
      note={WORDS.text}
      form={form}
      submit={WORDS.confirm}
      cancel={WORDS.close}
      hasCurl={false}
      noValidate
      onClose={onClose}
      buttons={
        rest !== null && (
          <Button
            isPending={action.isPending}
            onClick={() =>
              action.mutate(callOf(rest, form.values), { onSuccess: (answer) => setCount(count + answer.count) })
            }
          >
            {WORDS.goOn}
          </Button>
        )
      }
    >
      <MomentField label={WORDS.from} {...form.text('from')} />
      <MomentField label={WORDS.to} hint={WORDS.toHint} {...form.text('to')} />
      <Select
        label={WORDS.which}
        options={STATUSES.map((value) => ({ value, label: WORDS.statuses[value] }))}
        {...form.choice('status', STATUSES)}
      />
      <div role="status">
        {action.data !== undefined && (
          <Notice tone="good">
            {WORDS.done(count)} {rest !== null && WORDS.more}
          </Notice>
        )}
      </div>
    </FormDialog>
  );
}
