import { useState } from 'react';
import { type ApiCall, apiCall, useAction } from '../../app/api.ts';
import { type Action, FormDialog, useForm } from '../../forms/form.tsx';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Confirm, ShownDialog } from '../../ui/dialog.tsx';
import { Select, TextArea, TextField } from '../../ui/field.tsx';
import { Notice } from '../../ui/page.tsx';
import ui from '../../ui/ui.module.css';
import { OF_SUBSCRIPTION, type Subscription, SUBSCRIPTIONS, useSecret } from './webhooks.ts';
import { EVENT_TYPES, EVENTS, type EventType, TEXT } from './words.ts';
import styles from './styles.module.css';

interface SubscriptionDialogProps {
  subscription: Subscription;
  onClose: () => void;
}

const pathTo = ({ subscription_id }: Subscription) => ({ path: { subscription_id } });

/** Creates a subscription, then shows its secret instead of the form. */
export function CreateSubscription({ tenantId, onClose }: { tenantId: string; onClose: () => void }) {
  const secret = useSecret();
  if (secret.secret !== null) return <Secret secret={secret.secret} onClose={onClose} />;
  return (
    <SubscriptionForm
      title={TEXT.form.create}
      submit={TEXT.create}
      start={{ url: '', events: [], paths: [] }}
      action={secret}
      callOf={(wanted) => apiCall('POST', SUBSCRIPTIONS, { body: { tenant_id: tenantId, ...wanted } })}
      onDone={() => undefined}
      onClose={onClose}
    />
  );
}

export function ChangeSubscription({ subscription, onClose }: SubscriptionDialogProps) {
  return (
    <SubscriptionForm
      title={TEXT.form.change}
      submit={TEXT.form.save}
      start={{ url: subscription.target_url, events: subscription.event_types, paths: subscription.paths ?? [] }}
      action={useAction(SUBSCRIPTIONS)}
      callOf={(wanted) => apiCall('PATCH', OF_SUBSCRIPTION, { ...pathTo(subscription), body: wanted })}
      onDone={onClose}
      onClose={onClose}
    />
  );
}

interface SubscriptionFormProps<T> {
  title: string;
  submit: string;
  start: { readonly url: string; readonly events: readonly EventType[]; readonly paths: readonly string[] };
  action: Action<T>;
  callOf: (wanted: Pick<Subscription, 'target_url' | 'event_types' | 'paths'>) => ApiCall<T>;
  onDone: () => void;
  onClose: () => void;
}

function SubscriptionForm<T>({ title, submit, start, action, callOf, onDone, onClose }: SubscriptionFormProps<T>) {
  const words = TEXT.form;
  const form = useForm({
    start,
    action,
    callOf: ({ url, events, paths }) => {
      const named = paths.filter((path) => path.trim() !== '');
      return callOf({ target_url: url.trim(), event_types: [...events], paths: named.length === 0 ? null : named });
    },
    faultsOf: ({ url, events }) => ({
      url: /^https?:\/\/./.test(url.trim()) && URL.canParse(url.trim()) ? undefined : words.urlFault,
      events: events.length > 0 ? undefined : words.noEvents,
    }),
    onDone,
  });
  const { events, paths } = form.values;
  const { fault } = form.text('events');
  const choose = (isChosen: (type: EventType) => boolean): void => form.set({ events: EVENT_TYPES.filter(isChosen) });
  return (
    <FormDialog title={title} form={form} submit={submit} noValidate onClose={onClose}>
      <TextField label={words.url} hint={words.urlHint} type="url" maxLength={2048} {...form.text('url')} />
      <TextArea
        label={words.paths}
        hint={words.pathsHint}
        rows={2}
        value={paths.join('\n')}
        onChange={(event) => form.set({ paths: event.target.value === '' ? [] : event.target.value.split('\n') })}
      />
      <div className={ui.row}>
        <strong>{words.events}</strong>
        <Button small onClick={() => choose(() => true)}>
          {words.all}
        </Button>
        <Button small onClick={() => choose(() => false)}>
          {words.none}
        </Button>
      </div>
      <div className={styles.events}>
        {EVENTS.map(([group, types]) => (
          <fieldset key={group} className={styles.group}>
            <legend>{group}</legend>
            {types.map(([type, text]) => (
              <label key={type} className={styles.event}>
                <input
                  type="checkbox"
                  checked={events.includes(type)}
                  onChange={() => choose((one) => events.includes(one) !== (one === type))}
                />
                <code>{type}</code>
                <span className={ui.quiet}>{text}</span>
              </label>
            ))}
          </fieldset>
        ))}
      </div>
      {fault !== undefined && (
        <p className={ui.fault} role="alert">
          {fault}
        </p>
      )}
    </FormDialog>
  );
}

function Secret({ secret, onClose }: { secret: string; onClose: () => void }) {
  const words = TEXT.secret;
  return (
    <ShownDialog
      title={words.title}
      isOnce
      buttons={<Copy text={secret} label={words.copy} small={false} />}
      close={words.done}
      onClose={onClose}
    >
      <Notice tone="warn">{words.text}</Notice>
      <TextField label={words.label} readOnly value={secret} />
    </ShownDialog>
  );
}

export function RotateSecret({ subscription, onClose }: SubscriptionDialogProps) {
  const words = TEXT.rotating;
  const { secret, isPending, error, mutate } = useSecret();
  const [grace, setGrace] = useState('86400');
  const rotate = (): void =>
    mutate(
      apiCall('POST', `${OF_SUBSCRIPTION}/rotate-secret`, {
        ...pathTo(subscription),
        body: { grace_seconds: Number(grace) },
      }),
    );
  if (secret !== null) return <Secret secret={secret} onClose={onClose} />;
  return (
    <Confirm
      title={words.title}
      confirm={words.confirm}
      isPending={isPending}
      error={error}
      onConfirm={rotate}
      onClose={onClose}
    >
      <p>{words.text}</p>
      <Select
        label={words.grace}
        options={Object.entries(words.graces).map(([value, label]) => ({ value, label }))}
        value={grace}
        onChange={(event) => setGrace(event.target.value)}
      />
    </Confirm>
  );
}
