import { Fragment, type FormEvent, useState } from 'react';
import type { api } from '@identity-state/client';
import { tenantPath, useAction } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { isCaller, useMay } from '../../app/rights.ts';
import { TEXT } from './words.ts';
import { Button } from '../../ui/button.tsx';
import { CopyCurl } from '../../ui/curl.tsx';
import { Checkbox, Select, TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Notice } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import ui from '../../ui/ui.module.css';
import styles from './tenant.module.css';

type Tenant = api.TenantOfMember;

const WORDS = TEXT.settings;
const EVIDENCE: readonly Tenant['evidence_policy'][] = ['open', 'resolved', 'fresh'];
type Setting = Tenant['pending_changes'][number]['setting'];
const CONFIRMATION: readonly Tenant[Setting][] = ['required', 'off'];
const CONFIRMED: readonly Setting[] = ['erasure_confirmation', 'grant_confirmation'];

/** Returns the value of a setting, or the value that its pending change will set. */
function wantedOf(tenant: Tenant, setting: Setting): Tenant[Setting] {
  return tenant.pending_changes.some((change) => change.setting === setting) ? 'off' : tenant[setting];
}

export function Settings({ tenant }: { tenant: Tenant }) {
  const may = useMay(tenant.tenant_id);
  return (
    <Section title={TEXT.tabs.settings}>
      <div className={styles.stack}>
        <dl className={styles.facts}>
          <dt>{WORDS.id}</dt>
          <dd>
            <code>{tenant.tenant_id}</code>
          </dd>
          <dt>{WORDS.made}</dt>
          <dd>
            <Time at={tenant.created_at} />
          </dd>
        </dl>
        {tenant.pending_changes.map((change) => (
          <PendingChange key={change.setting} tenant={tenant} change={change} />
        ))}
        {may('PATCH /v1/tenants/{tenant_id}') ? <SettingsForm tenant={tenant} /> : <SettingsShown tenant={tenant} />}
      </div>
    </Section>
  );
}

function SettingsShown({ tenant }: { tenant: Tenant }) {
  return (
    <>
      <dl className={styles.facts}>
        <dt>{WORDS.name}</dt>
        <dd>{tenant.name}</dd>
        <dt>{WORDS.slug}</dt>
        <dd>{tenant.slug ?? TEXT.none}</dd>
        <dt>{WORDS.chain}</dt>
        <dd>{tenant.chain_enforced ? WORDS.yes : WORDS.no}</dd>
        <dt>{WORDS.evidence}</dt>
        <dd>{WORDS.evidences[tenant.evidence_policy]}</dd>
        {CONFIRMED.map((setting) => (
          <Fragment key={setting}>
            <dt>{WORDS.confirmation[setting]}</dt>
            <dd>{WORDS.confirmations[setting][tenant[setting]]}</dd>
          </Fragment>
        ))}
      </dl>
      <p className={styles.quiet}>{WORDS.readOnly}</p>
    </>
  );
}

/** Shows a request to switch a confirmation off. A second human can confirm it here; the form below withdraws it. */
function PendingChange({ tenant, change }: { tenant: Tenant; change: Tenant['pending_changes'][number] }) {
  const may = useMay(tenant.tenant_id);
  const { subject } = useSession();
  const path = tenantPath(tenant.tenant_id);
  const action = useAction(path, '/v1/tenants');
  const { setting, requested_by: by } = change;
  const mayConfirm = may('PATCH /v1/tenants/{tenant_id}') && by !== null && !isCaller(by, subject);
  return (
    <Notice tone="warn">
      <p>
        {WORDS.pending[setting](by ?? TEXT.audit.service)} <Time at={change.effective_at} />. {WORDS.pendingText}
      </p>
      {action.error !== null && <Problem error={action.error} />}
      {mayConfirm && (
        <Button
          kind="danger"
          isPending={action.isPending}
          onClick={() => action.mutate({ method: 'PATCH', path, body: { [setting]: 'off' } })}
        >
          {WORDS.confirmOff}
        </Button>
      )}
    </Notice>
  );
}

/** Changes the settings. Sends only the changed members. */
function SettingsForm({ tenant }: { tenant: Tenant }) {
  const may = useMay(tenant.tenant_id);
  const action = useAction(tenantPath(tenant.tenant_id), '/v1/tenants');
  const [name, setName] = useState(tenant.name);
  const [slug, setSlug] = useState(tenant.slug ?? '');
  const [isChained, setChained] = useState(tenant.chain_enforced);
  const [evidence, setEvidence] = useState(tenant.evidence_policy);
  const [confirmations, setConfirmations] = useState<Partial<Record<Setting, Tenant[Setting]>>>({});
  const isOwner = may('PATCH /v1/tenants/{tenant_id}, a confirmation is switched off');
  const body: api.PatchTenantBody = {
    ...(name.trim() === tenant.name ? {} : { name: name.trim() }),
    ...(slug.trim() === (tenant.slug ?? '') ? {} : { slug: slug.trim() === '' ? null : slug.trim() }),
    ...(isChained === tenant.chain_enforced ? {} : { chain_enforced: isChained }),
    ...(evidence === tenant.evidence_policy ? {} : { evidence_policy: evidence }),
    ...Object.fromEntries(
      CONFIRMED.filter(
        (setting) => (confirmations[setting] ?? wantedOf(tenant, setting)) !== wantedOf(tenant, setting),
      ).map((setting) => [setting, confirmations[setting]]),
    ),
  };
  const isChanged = Object.keys(body).length > 0;
  const call = { method: 'PATCH', path: tenantPath(tenant.tenant_id), body } as const;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (isChanged) action.mutate(call);
  };
  return (
    <form className={`${ui.form} ${styles.narrow}`} onSubmit={submit}>
      <TextField
        label={WORDS.name}
        required
        maxLength={256}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <TextField
        label={WORDS.slug}
        hint={WORDS.slugHint}
        maxLength={128}
        pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
        value={slug}
        onChange={(event) => setSlug(event.target.value)}
      />
      <Select
        label={WORDS.evidence}
        value={evidence}
        options={EVIDENCE.map((value) => ({ value, label: WORDS.evidences[value] }))}
        onChange={(event) => setEvidence(EVIDENCE.find((one) => one === event.target.value) ?? evidence)}
      />
      {CONFIRMED.map((setting) => {
        const wanted = wantedOf(tenant, setting);
        return (
          <Select
            key={setting}
            label={WORDS.confirmation[setting]}
            hint={isOwner ? WORDS.confirmationHint : WORDS.confirmationOwner}
            value={confirmations[setting] ?? wanted}
            options={CONFIRMATION.filter((value) => isOwner || value === 'required' || wanted === value).map(
              (value) => ({
                value,
                label: WORDS.confirmations[setting][value],
              }),
            )}
            onChange={(event) => {
              const chosen = CONFIRMATION.find((one) => one === event.target.value);
              setConfirmations({ ...confirmations, [setting]: chosen });
            }}
          />
        );
      })}
      <div>
        <Checkbox label={WORDS.chain} checked={isChained} onChange={() => setChained(!isChained)} />
        <p className={styles.quiet}>{WORDS.chainText}</p>
      </div>
      <div role="status">
        {!isChanged &&
          (action.isSuccess ? (
            <Notice tone="good">{WORDS.saved}</Notice>
          ) : (
            <p className={styles.quiet}>{WORDS.nothing}</p>
          ))}
      </div>
      {action.error !== null && <Problem error={action.error} />}
      <div className={ui.actions}>
        <Button type="submit" kind="primary" isPending={action.isPending} disabled={!isChanged}>
          {TEXT.save}
        </Button>
        {isChanged && <CopyCurl call={call} />}
      </div>
    </form>
  );
}
