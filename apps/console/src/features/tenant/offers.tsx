import { type FormEvent, useState } from 'react';
import type { api } from '@identity-state/client';
import { tenantPath, useAction, useList } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { useMay } from '../../app/rights.ts';
import { TEXT } from './words.ts';
import { TEXT as UI } from '../../text/ui.ts';
import { Button, type ButtonKind } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { TextArea, TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Badge, Empty, Notice, type Tone } from '../../ui/state.tsx';
import { ListTable } from '../../ui/table/table.tsx';
import { Who } from '../../entities/who.tsx';
import ui from '../../ui/ui.module.css';
import { isCaller } from '../../app/rights.ts';
import styles from './tenant.module.css';

type Offer = api.TransferOffer;
type Answer = 'accept' | 'decline' | 'cancel';

const WORDS = TEXT.offers;
const TONES: Readonly<Record<Offer['status'], Tone>> = {
  pending: 'accent',
  accepted: 'good',
  declined: 'bad',
  cancelled: 'plain',
  expired: 'plain',
};

/** Lists offers of ownership. Owners create and cancel them, and recipients answer them. */
export function Offers({ tenant }: { tenant: api.TenantOfMember }) {
  const may = useMay(tenant.tenant_id);
  const [isMaking, setMaking] = useState(false);
  return (
    <Section
      title={TEXT.tabs.offers}
      actions={
        may('POST /v1/tenants/{tenant_id}/transfer-offers') && (
          <Button kind="primary" small onClick={() => setMaking(true)}>
            {WORDS.make}
          </Button>
        )
      }
    >
      <div className={styles.stack}>
        <p className={styles.quiet}>{WORDS.text}</p>
        <OfferTable tenantId={tenant.tenant_id} />
      </div>
      {isMaking && <MakeOffer tenantId={tenant.tenant_id} onClose={() => setMaking(false)} />}
    </Section>
  );
}

/** Lists the offers that the caller may see: all of them as an admin, else its own. */
export function OfferTable({ tenantId }: { tenantId: string }) {
  const { subject: caller } = useSession();
  const list = useList<Offer>(tenantPath(tenantId, 'transfer-offers'));
  const [open, setOpen] = useState<{ offer: Offer; answer: Answer } | null>(null);
  const isToCaller = list.items.some((offer) => offer.status === 'pending' && isCaller(offer.to_principal_id, caller));
  return (
    <>
      {isToCaller && <Notice tone="warn">{WORDS.toYou}</Notice>}
      <ListTable
        caption={WORDS.caption}
        list={list}
        keyOf={({ transfer_offer_id: id }) => id}
        empty={
          <Empty title={WORDS.empty}>
            <p>{WORDS.emptyText}</p>
          </Empty>
        }
        columns={[
          {
            title: WORDS.to,
            isHeader: true,
            value: ({ to_principal_id: to }) => to,
            cell: ({ to_principal_id: to }) => <Who id={to} />,
          },
          {
            title: WORDS.from,
            value: ({ from_principal_id: from }) => from,
            cell: ({ from_principal_id: from }) => <Who id={from} />,
          },
          {
            title: WORDS.status,
            value: ({ status }) => WORDS.statuses[status],
            cell: ({ status }) => <Badge tone={TONES[status]}>{WORDS.statuses[status]}</Badge>,
          },
          { title: WORDS.message, value: ({ message }) => message },
          { title: WORDS.made, at: ({ created_at: at }) => at },
          {
            title: WORDS.until,
            at: ({ expires_at: at }) => at,
            value: ({ expires_at: at }) => (at === null ? WORDS.noEnd : null),
            dayOnly: true,
          },
          {
            title: TEXT.actions,
            cell: (offer) =>
              offer.status === 'pending' && (
                <span className={styles.buttons}>
                  {isCaller(offer.to_principal_id, caller) && (
                    <>
                      <Button small kind="primary" onClick={() => setOpen({ offer, answer: 'accept' })}>
                        {WORDS.accept}
                      </Button>
                      <Button small onClick={() => setOpen({ offer, answer: 'decline' })}>
                        {WORDS.decline}
                      </Button>
                    </>
                  )}
                  {isCaller(offer.from_principal_id, caller) && (
                    <Button small onClick={() => setOpen({ offer, answer: 'cancel' })}>
                      {WORDS.cancel}
                    </Button>
                  )}
                </span>
              ),
          },
        ]}
      />
      {open !== null && <AnswerOffer {...open} tenantId={tenantId} onClose={() => setOpen(null)} />}
    </>
  );
}

function AnswerOffer({
  tenantId,
  offer,
  answer,
  onClose,
}: {
  tenantId: string;
  offer: Offer;
  answer: Answer;
  onClose: () => void;
}) {
  const action = useAction(tenantPath(tenantId), '/v1/tenants');
  const words: Record<Answer, { title: string; text: string; confirm: string; kind: ButtonKind }> = {
    accept: {
      title: WORDS.acceptTitle,
      text: WORDS.acceptText(tenantId, offer.from_principal_id),
      confirm: WORDS.accept,
      kind: 'primary',
    },
    decline: { title: WORDS.declineTitle, text: WORDS.declineText(tenantId), confirm: WORDS.decline, kind: 'danger' },
    cancel: {
      title: WORDS.cancelTitle,
      text: WORDS.cancelText(offer.to_principal_id),
      confirm: WORDS.cancel,
      kind: 'danger',
    },
  };
  const { title, text, confirm, kind } = words[answer];
  return (
    <Confirm
      title={title}
      confirm={confirm}
      kind={kind}
      isOpen
      isPending={action.isPending}
      error={action.error}
      onConfirm={() =>
        action.mutate(
          { method: 'POST', path: tenantPath(tenantId, 'transfer-offers', offer.transfer_offer_id, answer) },
          { onSuccess: onClose },
        )
      }
      onClose={onClose}
    >
      <p>{text}</p>
    </Confirm>
  );
}

function MakeOffer({ tenantId, onClose }: { tenantId: string; onClose: () => void }) {
  const action = useAction(tenantPath(tenantId));
  const [to, setTo] = useState('');
  const [message, setMessage] = useState('');
  const [until, setUntil] = useState('');
  const isPast = until !== '' && !(Date.parse(until) > Date.now());
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isPast) return;
    action.mutate(
      {
        method: 'POST',
        path: tenantPath(tenantId, 'transfer-offers'),
        body: {
          to_principal_id: to.trim(),
          ...(message.trim() === '' ? {} : { message: message.trim() }),
          ...(until === '' ? {} : { expires_at: new Date(until).toISOString() }),
        },
      },
      { onSuccess: onClose },
    );
  };
  return (
    <Dialog title={WORDS.makeTitle} isOpen onClose={onClose}>
      <form className={ui.form} onSubmit={submit}>
        <TextField
          label={WORDS.to}
          hint={WORDS.toHint}
          required
          value={to}
          onChange={(event) => setTo(event.target.value)}
        />
        <TextArea
          label={WORDS.message}
          hint={WORDS.messageHint}
          rows={3}
          maxLength={2000}
          value={message}
          onChange={(event) => setMessage(event.target.value)}
        />
        <TextField
          label={WORDS.until}
          hint={WORDS.untilHint}
          fault={isPast ? WORDS.past : undefined}
          type="datetime-local"
          value={until}
          onChange={(event) => setUntil(event.target.value)}
        />
        {action.error !== null && <Problem error={action.error} />}
        <div className={ui.dialogFoot}>
          <Button onClick={onClose}>{UI.cancel}</Button>
          <Button type="submit" kind="primary" isPending={action.isPending}>
            {WORDS.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
