import { useState } from 'react';
import type { api, Snapshot } from '@identity-state/client';
import { apiCall, tenantPath, useAction } from '../../app/api.ts';
import { FormDialog, useForm } from '../../forms/form.tsx';
import { Copy } from '../../ui/copy.tsx';
import { ShownDialog } from '../../ui/dialog.tsx';
import { Checkbox, Select, TextArea, TextField } from '../../ui/field.tsx';
import { Time } from '../../ui/time.tsx';
import { PartsField } from '../sharing/make/parts-field.tsx';
import { bodyOf, offerFaults, OFFERED_PROFILES, START } from './offer.ts';
import { TEXT } from './words.ts';

interface OfferDialogProps {
  tenantId: string;
  snapshot: Snapshot;
  /** False for a grantee, whose grants decide which parts are disclosed. */
  isOwner: boolean;
  onClose: () => void;
}

/** Offers a credential of a version to a wallet, then shows the offer instead of the form. */
export default function OfferDialog({ tenantId, snapshot, isOwner, onClose }: OfferDialogProps) {
  const [offer, setOffer] = useState<api.CredentialOffer | null>(null);
  const form = useForm({
    start: START,
    action: useAction<api.CredentialOffer>(tenantPath(tenantId, 'audit')),
    callOf: (values) =>
      apiCall('POST', '/v1/tenants/{tenant_id}/snapshots/{snapshot_id}/credential-offers', {
        path: { tenant_id: tenantId, snapshot_id: snapshot.snapshot_id },
        body: bodyOf(values),
      }),
    faultsOf: offerFaults,
    onDone: setOffer,
  });
  if (offer !== null) return <Offered offer={offer} onClose={onClose} />;
  const { kind, isPart, paths, hasCode } = form.values;
  return (
    <FormDialog
      title={TEXT.title(snapshot.snapshot_version)}
      note={TEXT.note}
      form={form}
      submit={TEXT.submit}
      noValidate
      onClose={onClose}
    >
      <Select
        label={TEXT.kind}
        hint={isOwner ? undefined : TEXT.granted}
        options={[
          { value: '', label: TEXT.view },
          ...OFFERED_PROFILES.map((value) => ({ value, label: TEXT.profiles[value] })),
        ]}
        {...form.choice('kind', ['', ...OFFERED_PROFILES])}
      />
      {kind === '' && isOwner && (
        <PartsField
          tenantId={tenantId}
          of={{ content: snapshot.envelope }}
          isPart={isPart}
          paths={paths}
          fault={form.text('paths').fault}
          onChange={form.set}
        />
      )}
      <TextField label={TEXT.days} type="number" min={1} max={365} {...form.text('days')} />
      <Checkbox label={TEXT.hasCode} hint={hasCode ? undefined : TEXT.noCode} {...form.check('hasCode')} />
    </FormDialog>
  );
}

function Offered({ offer, onClose }: { offer: api.CredentialOffer; onClose: () => void }) {
  const { credential_offer_uri: link, tx_code: code, expires_at: end } = offer;
  return (
    <ShownDialog
      title={TEXT.made}
      isOnce
      buttons={<Copy text={link} label={TEXT.copy} small={false} />}
      close={TEXT.done}
      onClose={onClose}
    >
      <p>
        {TEXT.once} <Time at={end} />.
      </p>
      <TextArea label={TEXT.link} rows={4} readOnly value={link} />
      <a href={link}>{TEXT.open}</a>
      {code !== null && <TextField label={TEXT.code} hint={TEXT.codeHint} readOnly value={code} />}
    </ShownDialog>
  );
}
