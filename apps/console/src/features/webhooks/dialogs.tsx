import { type FormEvent, useState } from 'react';
import { type ApiCall, useAction } from '../../app/api.ts';
import { EVENTS, TEXT } from './words.ts';
import { TEXT as UI } from '../../text/ui.ts';
import { Button } from '../../ui/button.tsx';
import { Copy } from '../../ui/copy.tsx';
import { CopyCurl } from '../../ui/curl.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Notice } from '../../ui/state.tsx';
import ui from '../../ui/ui.module.css';
import { type Subscription, subscriptionPath, SUBSCRIPTIONS, useSecret } from './webhooks.ts';
import styles from './styles.module.css';

type EventType = Subscription['event_types'][number];

const ALL: readonly EventType[] = EVENTS.flatMap(([, types]) => types.map(([type]) => type));

/** Creates a subscription, then shows its secret instead of the form. */
export function CreateSubscription({ tenantId, onClose }: { tenantId: string; onClose: () => void }) {
  const secret = useSecret();
  if (secret.secret !== null) return <ShownSecret secret={secret.secret} onClose={onClose} />;
  return (
    <SubscriptionForm
      title={TEXT.form.create}
      submit={TEXT.create}
      url=""
      events={[]}
      isPending={secret.isPending}
      error={secret.error}
      callOf={(url, events) => ({
        method: 'POST',
        path: SUBSCRIPTIONS,
        body: { tenant_id: tenantId, target_url: url, event_types: events },
      })}
      onSubmit={secret.ask}
      onClose={onClose}
    />
  );
}

export function ChangeSubscription({ subscription, onClose }: { subscription: Subscription; onClose: () => void }) {
  const action = useAction(SUBSCRIPTIONS);
  return (
    <SubscriptionForm
      title={TEXT.form.change}
      submit={TEXT.form.save}
      url={subscription.target_url}
      events={subscription.event_types}
      isPending={action.isPending}
      error={action.error}
      callOf={(url, events) => ({
        method: 'PATCH',
        path: subscriptionPath(subscription.subscription_id),
        body: { target_url: url, event_types: events },
      })}
      onSubmit={(call) => action.mutate(call, { onSuccess: onClose })}
      onClose={onClose}
    />
  );
}

function SubscriptionForm({
  title,
  submit,
  url: before,
  events: eventsBefore,
  isPending,
  error,
  callOf,
  onSubmit,
  onClose,
}: {
  title: string;
  submit: string;
  url: string;
  events: readonly EventType[];
  isPending: boolean;
  error: Error | null;
  callOf: (url: string, events: readonly EventType[]) => ApiCall;
  onSubmit: (call: ApiCall) => void;
  onClose: () => void;
}) {
  const words = TEXT.form;
  const [url, setUrl] = useState(before);
  const [events, setEvents] = useState(eventsBefore);
  const [isTried, setTried] = useState(false);
  const isUrl = /^https?:\/\/./.test(url.trim()) && URL.canParse(url.trim());
  const isGood = isUrl && events.length > 0;
  const send = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (isGood) onSubmit(callOf(url.trim(), events));
  };
  const toggle = (type: EventType): void =>
    setEvents((chosen) => ALL.filter((one) => (one === type ? !chosen.includes(one) : chosen.includes(one))));
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <form className={ui.form} onSubmit={send} noValidate>
        <TextField
          label={words.url}
          hint={words.urlHint}
          fault={isTried && !isUrl ? words.urlFault : undefined}
          type="url"
          maxLength={2048}
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
        <div className={styles.row}>
          <strong>{words.events}</strong>
          <Button small onClick={() => setEvents(ALL)}>
            {words.all}
          </Button>
          <Button small onClick={() => setEvents([])}>
            {words.none}
          </Button>
        </div>
        <div className={styles.events}>
          {EVENTS.map(([group, types]) => (
            <fieldset key={group} className={styles.group}>
              <legend>{group}</legend>
              {types.map(([type, told]) => (
                <label key={type} className={styles.event}>
                  <input type="checkbox" checked={events.includes(type)} onChange={() => toggle(type)} />
                  <code>{type}</code>
                  <span className={styles.quiet}>{told}</span>
                </label>
              ))}
            </fieldset>
          ))}
        </div>
        {isTried && events.length === 0 && (
          <p className={ui.fault} role="alert">
            {words.noEvents}
          </p>
        )}
        {error !== null && <Problem error={error} />}
        <div className={ui.dialogFoot}>
          {isGood && <CopyCurl call={callOf(url.trim(), events)} />}
          <Button onClick={onClose}>{UI.cancel}</Button>
          <Button type="submit" kind="primary" isPending={isPending}>
            {submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Only its button closes it, since the secret is shown only once. */
function ShownSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  const words = TEXT.secret;
  return (
    <Dialog title={words.title} isOpen onClose={() => undefined} role="alertdialog">
      <div className={styles.stack}>
        <Notice tone="warn">{words.text}</Notice>
        <TextField label={words.label} readOnly value={secret} />
      </div>
      <div className={ui.dialogFoot}>
        <Copy text={secret} label={words.copy} small={false} />
        <Button kind="primary" onClick={onClose}>
          {words.done}
        </Button>
      </div>
    </Dialog>
  );
}

export function RotateSecret({ subscription, onClose }: { subscription: Subscription; onClose: () => void }) {
  const words = TEXT.rotating;
  const secret = useSecret();
  const [grace, setGrace] = useState('86400');
  if (secret.secret !== null) return <ShownSecret secret={secret.secret} onClose={onClose} />;
  return (
    <Confirm
      title={words.title}
      confirm={words.confirm}
      isOpen
      isPending={secret.isPending}
      error={secret.error}
      onConfirm={() =>
        secret.ask({
          method: 'POST',
          path: `${subscriptionPath(subscription.subscription_id)}/rotate-secret`,
          body: { grace_seconds: Number(grace) },
        })
      }
      onClose={onClose}
    >
      <p>{words.text}</p>
      <Select
        label={words.grace}
        value={grace}
        options={Object.entries(words.graces).map(([value, label]) => ({ value, label }))}
        onChange={(event) => setGrace(event.target.value)}
      />
    </Confirm>
  );
}

export function EndSubscription({
  subscription,
  onClose,
  onEnded,
}: {
  subscription: Subscription;
  onClose: () => void;
  onEnded: () => void;
}) {
  const words = TEXT.ending;
  const action = useAction(SUBSCRIPTIONS);
  return (
    <Confirm
      title={words.title}
      confirm={words.confirm}
      isOpen
      isPending={action.isPending}
      error={action.error}
      onConfirm={() =>
        action.mutate(
          { method: 'DELETE', path: subscriptionPath(subscription.subscription_id) },
          { onSuccess: onEnded },
        )
      }
      onClose={onClose}
    >
      <p>{words.text(subscription.target_url)}</p>
    </Confirm>
  );
}

export function DisableSubscription({ subscription, onClose }: { subscription: Subscription; onClose: () => void }) {
  const words = TEXT.disabling;
  const action = useAction(SUBSCRIPTIONS);
  return (
    <Confirm
      title={words.title}
      confirm={words.confirm}
      isOpen
      isPending={action.isPending}
      error={action.error}
      onConfirm={() =>
        action.mutate(
          {
            method: 'PATCH',
            path: subscriptionPath(subscription.subscription_id),
            body: { status: 'disabled' },
          },
          { onSuccess: onClose },
        )
      }
      onClose={onClose}
    >
      <p>{words.text}</p>
    </Confirm>
  );
}
