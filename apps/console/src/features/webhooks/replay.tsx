import { type FormEvent, useState } from 'react';
import { useAction } from '../../app/api.ts';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Notice } from '../../ui/state.tsx';
import ui from '../../ui/ui.module.css';
import { subscriptionPath } from './webhooks.ts';

interface Replayed {
  readonly count: number;
  readonly has_more: boolean;
  readonly next_from: string | null;
}

/** Sends the finished deliveries of a period again, with further requests for a long period. */
export function Replay({ subscriptionId, onClose }: { subscriptionId: string; onClose: () => void }) {
  const words = TEXT.replaying;
  const action = useAction<Replayed>(subscriptionPath(subscriptionId));
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [status, setStatus] = useState('');
  const [isTried, setTried] = useState(false);
  const [count, setCount] = useState(0);
  const send = (start: string): void =>
    action.mutate(
      {
        method: 'POST',
        path: `${subscriptionPath(subscriptionId)}/deliveries/replay`,
        body: {
          from: start,
          ...(to === '' ? {} : { to: new Date(to).toISOString() }),
          ...(status === '' ? {} : { status }),
        },
      },
      { onSuccess: (answer) => setCount((before) => before + answer.count) },
    );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    setCount(0);
    if (from !== '') send(new Date(from).toISOString());
  };
  const rest = action.data?.next_from ?? null;
  return (
    <Dialog title={words.title} isOpen onClose={onClose}>
      <p>{words.text}</p>
      <form className={ui.form} onSubmit={submit} noValidate>
        <TextField
          label={words.from}
          type="datetime-local"
          value={from}
          fault={isTried && from === '' ? words.noFrom : undefined}
          onChange={(event) => setFrom(event.target.value)}
        />
        <TextField
          label={words.to}
          hint={words.toHint}
          type="datetime-local"
          value={to}
          onChange={(event) => setTo(event.target.value)}
        />
        <Select
          label={words.which}
          value={status}
          options={Object.entries(words.statuses).map(([value, label]) => ({ value, label }))}
          onChange={(event) => setStatus(event.target.value)}
        />
        <div role="status">
          {action.data !== undefined && (
            <Notice tone="good">
              {words.done(count)} {rest !== null && words.more}
            </Notice>
          )}
        </div>
        {action.error !== null && <Problem error={action.error} />}
        <div className={ui.dialogFoot}>
          <Button onClick={onClose}>{words.close}</Button>
          {rest !== null && (
            <Button isPending={action.isPending} onClick={() => send(rest)}>
              {words.goOn}
            </Button>
          )}
          <Button type="submit" kind="primary" isPending={action.isPending}>
            {words.confirm}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
