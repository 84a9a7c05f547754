import type { api } from '@identity-state/client';
import { apiCall, tenantPath, useAction } from '../../app/api.ts';
import { useSession } from '../../app/context.tsx';
import { isCaller, useMay } from '../../app/rights.ts';
import { Form, changedMembers, useForm } from '../../forms/form.tsx';
import { Button } from '../../ui/button.tsx';
import { Checkbox, Select, TextField } from '../../ui/field.tsx';
import { Facts, Notice, Problem, Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import ui from '../../ui/ui.module.css';
import { TEXT } from './words.ts';
import styles from './styles.module.css';

type Tenant = api.TenantOfMember;
type Setting = Tenant['pending_changes'][number]['setting'];

const WORDS = TEXT.settings;
const EVIDENCE: readonly Tenant['evidence_policy'][] = ['open', 'resolved', 'fresh'];
const CONFIRMATION: readonly Tenant[Setting][] = ['required', 'off'];
const CONFIRMED: readonly Setting[] = ['erasure_confirmation', 'grant_confirmation'];

/** Returns the value of a setting, or the value that its pending change will set. */
function wantedOf(tenant: Tenant, setting: Setting): Tenant[Setting] {
  return tenant.pending_changes.some((change) => change.setting === setting) ? 'off' : tenant[setting];
}

const patchCall = (tenant: Tenant, body: api.PatchTenantBody) =>
  apiCall('PATCH', '/v1/tenants/{tenant_id}', { path: { tenant_id: tenant.tenant_id }, body });

export function Settings({ tenant }: { tenant: Tenant }) {
  const may = useMay(tenant.tenant_id);
  return (
    <Section title={TEXT.tabs.settings}>
      <div className={ui.stack}>
        <Facts
          of={[
            [WORDS.id, <code>{tenant.tenant_id}</code>],
            [WORDS.made, <Time at={tenant.created_at} />],
          ]}
        />
        {tenant.pending_changes.map((change) => (
          <PendingChange key={change.setting} tenant={tenant} change={change} />
        ))}
        {may('PATCH /v1/tenants/{tenant_id}') ? <SettingsForm tenant={tenant} /> : <SettingsText tenant={tenant} />}
      </div>
    </Section>
  );
}

function SettingsText({ tenant }: { tenant: Tenant }) {
  return (
    <>
      <Facts
        of={[
          [WORDS.name, tenant.name],
          [WORDS.slug, tenant.slug ?? TEXT.none],
          [WORDS.chain, tenant.chain_enforced ? WORDS.yes : WORDS.no],
          [WORDS.evidence, WORDS.evidences[tenant.evidence_policy]],
          ...CONFIRMED.map(
            (setting) => [WORDS.confirmation[setting], WORDS.confirmations[setting][tenant[setting]]] as const,
          ),
        ]}
      />
      <p className={ui.quiet}>{WORDS.readOnly}</p>
    </>
  );
}

/** Shows a request to switch a confirmation off. A second human can confirm it here; the form below withdraws it. */
function PendingChange({ tenant, change }: { tenant: Tenant; change: Tenant['pending_changes'][number] }) {
  const may = useMay(tenant.tenant_id);
  const { subject } = useSession();
  const action = useAction(tenantPath(tenant.tenant_id), '/v1/tenants');
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
          onClick={() => action.mutate(patchCall(tenant, { [setting]: 'off' }))}
        >
          {WORDS.confirmOff}
        </Button>
      )}
    </Notice>
  );
}

/** The values of the form. An empty confirmation was not chosen: it follows the tenant. */
interface SettingsValues extends Record<Setting, Tenant[Setting] | ''> {
  readonly name: string;
  readonly slug: string;
  readonly chain_enforced: boolean;
  readonly evidence_policy: Tenant['evidence_policy'];
}

function valuesOf({ name, slug, chain_enforced, evidence_policy }: Tenant): SettingsValues {
  const none = { erasure_confirmation: '', grant_confirmation: '' } as const;
  return { name, slug: slug ?? '', chain_enforced, evidence_policy, ...none };
}

/** Returns the changed settings. */
export function settingsPatchOf(tenant: Tenant, values: SettingsValues): api.PatchTenantBody {
  const bodyOf = ({ name, slug, ...rest }: SettingsValues): api.PatchTenantBody => ({
    ...rest,
    name: name.trim(),
    slug: slug.trim() === '' ? null : slug.trim(),
    erasure_confirmation: rest.erasure_confirmation || wantedOf(tenant, 'erasure_confirmation'),
    grant_confirmation: rest.grant_confirmation || wantedOf(tenant, 'grant_confirmation'),
  });
  return changedMembers(bodyOf(valuesOf(tenant)), bodyOf(values));
}

/** Changes the settings. Sends only the changed members. */
function SettingsForm({ tenant }: { tenant: Tenant }) {
  const may = useMay(tenant.tenant_id);
  const action = useAction(tenantPath(tenant.tenant_id), '/v1/tenants');
  const form = useForm({
    start: { ...valuesOf(tenant) },
    action,
    callOf: (values) => {
      const body = settingsPatchOf(tenant, values);
      return Object.keys(body).length === 0 ? null : patchCall(tenant, body);
    },
    onDone: () => undefined,
  });
  const isOwner = may('PATCH /v1/tenants/{tenant_id}, a confirmation is switched off');
  return (
    <div className={styles.narrow}>
      <Form form={form} submit={TEXT.save}>
        <TextField label={WORDS.name} required maxLength={256} {...form.text('name')} />
        <TextField
          label={WORDS.slug}
          hint={WORDS.slugHint}
          maxLength={128}
          pattern="[A-Za-z0-9][A-Za-z0-9._\-]*"
          {...form.text('slug')}
        />
        <Select
          label={WORDS.evidence}
          options={EVIDENCE.map((value) => ({ value, label: WORDS.evidences[value] }))}
          {...form.choice('evidence_policy', EVIDENCE)}
        />
        {CONFIRMED.map((setting) => {
          const wanted = wantedOf(tenant, setting);
          return (
            <Select
              key={setting}
              label={WORDS.confirmation[setting]}
              hint={isOwner ? WORDS.confirmationHint : WORDS.confirmationOwner}
              options={CONFIRMATION.filter((value) => isOwner || value === 'required' || wanted === value).map(
                (value) => ({ value, label: WORDS.confirmations[setting][value] }),
              )}
              {...form.choice(setting, CONFIRMATION)}
              value={form.values[setting] || wanted}
            />
          );
        })}
        <Checkbox label={WORDS.chain} hint={WORDS.chainText} {...form.check('chain_enforced')} />
        <div role="status">
          {form.call === null &&
            (action.isSuccess ? (
              <Notice tone="good">{WORDS.saved}</Notice>
            ) : (
              <p className={ui.quiet}>{WORDS.nothing}</p>
            ))}
        </div>
      </Form>
    </div>
  );
}
