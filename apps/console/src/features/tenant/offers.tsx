import type { api } from '@identity-state/client';
import { apiCall, tenantPath, useAction, useList } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { isCaller, useMay } from '../../app/rights.ts';
import { whoColumn } from '../../entities/principal.tsx';
import { FormDialog, instantOf, isPast, MomentField, useForm } from '../../forms/form.tsx';
import { List } from '../../forms/list-page.tsx';
import { DialogButton, type RowAction } from '../../forms/row-actions.tsx';
import type { ButtonKind } from '../../ui/button.tsx';
import { TextArea, TextField } from '../../ui/field.tsx';
import { Notice, Section, type Tone } from '../../ui/page.tsx';
import { badgeColumn } from '../../ui/table/table.tsx';
import ui from '../../ui/ui.module.css';
import { TEXT } from './words.ts';

type Offer = api.TransferOffer;
type Answer = 'accept' | 'decline' | 'cancel';

const WORDS = TEXT.offers;
const OFFERS = '/v1/tenants/{tenant_id}/transfer-offers';
const TONES: Readonly<Record<Offer['status'], Tone>> = {
  pending: 'accent',
  accepted: 'good',
  declined: 'bad',
  cancelled: 'plain',
  expired: 'plain',
};
const ANSWERS: Readonly<
  Record<Answer, { kind: ButtonKind; title: string; textOf: (tenantId: string, offer: Offer) => string }>
> = {
  accept: {
    kind: 'primary',
    title: WORDS.acceptTitle,
    textOf: (tenantId, { from_principal_id: from }) => WORDS.acceptText(tenantId, from),
  },
  decline: { kind: 'danger', title: WORDS.declineTitle, textOf: WORDS.declineText },
  cancel: { kind: 'danger', title: WORDS.cancelTitle, textOf: (_, { to_principal_id: to }) => WORDS.cancelText(to) },
};

/** Lists offers of ownership. Owners create and cancel them, and recipients answer them. */
export function Offers({ tenant: { tenant_id: tenantId } }: { tenant: api.TenantOfMember }) {
  const may = useMay(tenantId);
  return (
    <Section
      title={TEXT.tabs.offers}
      actions={
        may('POST /v1/tenants/{tenant_id}/transfer-offers') && (
          <DialogButton kind="primary" small label={WORDS.make}>
            {(close) => <MakeOffer tenantId={tenantId} onClose={close} />}
          </DialogButton>
        )
      }
    >
      <div className={ui.stack}>
        <p className={ui.quiet}>{WORDS.text}</p>
        <OfferTable tenantId={tenantId} />
      </div>
    </Section>
  );
}

/** Lists the offers that the caller may see: all of them as an admin, else its own. */
export function OfferTable({ tenantId }: { tenantId: string }) {
  const { subject: caller } = useSession();
  const path = { tenant_id: tenantId };
  const list = useList(apiCall('GET', OFFERS, { path }));
  const isTo = (offer: Offer): boolean => offer.status === 'pending' && isCaller(offer.to_principal_id, caller);
  const isFrom = (offer: Offer): boolean => offer.status === 'pending' && isCaller(offer.from_principal_id, caller);
  const answer = (how: Answer): Pick<RowAction<Offer>, 'label' | 'question'> => ({
    label: WORDS[how],
    question: (offer) => ({
      title: ANSWERS[how].title,
      kind: ANSWERS[how].kind,
      text: ANSWERS[how].textOf(tenantId, offer),
      call: apiCall('POST', `${OFFERS}/{offer_id}/${how}`, { path: { ...path, offer_id: offer.transfer_offer_id } }),
    }),
  });
  return (
    <>
      {list.items.some(isTo) && <Notice tone="warn">{WORDS.toYou}</Notice>}
      <List
        caption={WORDS.caption}
        list={list}
        keyOf={({ transfer_offer_id: id }) => id}
        empty={{ title: WORDS.empty, text: WORDS.emptyText }}
        columns={[
          { ...whoColumn(WORDS.to, (offer: Offer) => offer.to_principal_id), isHeader: true },
          whoColumn(WORDS.from, (offer: Offer) => offer.from_principal_id),
          badgeColumn(WORDS.status, (offer: Offer) => offer.status, TONES, WORDS.statuses),
          { title: WORDS.message, value: ({ message }) => message },
          { title: WORDS.made, at: ({ created_at: at }) => at },
          {
            title: WORDS.until,
            at: ({ expires_at: at }) => at,
            value: ({ expires_at: at }) => (at === null ? WORDS.noEnd : null),
            dayOnly: true,
          },
        ]}
        changes={[tenantPath(tenantId), '/v1/tenants']}
        rowActions={[
          { ...answer('accept'), kind: 'primary', isOffered: isTo },
          { ...answer('decline'), isOffered: isTo },
          { ...answer('cancel'), isOffered: isFrom },
        ]}
      />
    </>
  );
}

function MakeOffer({ tenantId, onClose }: { tenantId: string; onClose: () => void }) {
  const form = useForm({
    start: { to: '', message: '', until: '' },
    action: useAction(tenantPath(tenantId)),
    callOf: ({ to, message, until }) =>
      apiCall('POST', OFFERS, {
        path: { tenant_id: tenantId },
        body: {
          to_principal_id: to.trim(),
          ...(message.trim() === '' ? {} : { message: message.trim() }),
          ...(until === '' ? {} : { expires_at: instantOf(until) }),
        },
      }),
    faultsOf: ({ until }) => ({ until: isPast(until) ? WORDS.past : undefined }),
    onDone: onClose,
  });
  return (
    <FormDialog title={WORDS.makeTitle} form={form} submit={WORDS.submit} hasCurl={false} onClose={onClose}>
      <TextField label={WORDS.to} hint={WORDS.toHint} required {...form.text('to')} />
      <TextArea label={WORDS.message} hint={WORDS.messageHint} rows={3} maxLength={2000} {...form.text('message')} />
      <MomentField
        label={WORDS.until}
        hint={WORDS.untilHint}
        {...form.text('until')}
        fault={isPast(form.values.until) ? WORDS.past : undefined}
      />
    </FormDialog>
  );
}
