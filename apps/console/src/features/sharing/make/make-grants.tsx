import { useState } from 'react';
import type { api } from '@identity-state/client';
import { type ApiCall, apiCall, tenantPath, useAction } from '../../../app/api.ts';
import { SCOPE_TEXTS } from '../../../entities/grant.tsx';
import { useKnownTenants } from '../../../entities/known-tenants.ts';
import { FormDialog, useForm } from '../../../forms/form.tsx';
import { Select, TextArea, TextField } from '../../../ui/field.tsx';
import { TEXT } from '../words.ts';
import ui from '../../../ui/ui.module.css';
import { ScopeFields, StartField, UntilField } from './grant-fields.tsx';
import {
  type GrantBody,
  granteesOf,
  type GrantValues,
  type GrantRequestsOutcome,
  outcomeOf,
  subjectsOf,
  wantedOf,
} from './grants-to-make.ts';
import { MadeGrants } from './made-grants.tsx';
import { PartsField } from './parts-field.tsx';
import { SubjectsField } from './subjects-field.tsx';

const WORDS = TEXT.make;
/** The default of `GRANT_BATCH_MAX`. */
const MOST = 1_000;

type Made = api.CreatedGrant | api.PendingGrant | api.GrantResults;

interface MakeGrantsProps {
  tenantId: string;
  /** The subject that is filled in: `organization/acme-corp`. */
  subject?: string;
  onClose: () => void;
}

function callOf(tenantId: string, bodies: readonly GrantBody[]): ApiCall<Made> {
  const path = { tenant_id: tenantId };
  const [body] = bodies;
  return body !== undefined && bodies.length === 1
    ? apiCall('POST', '/v1/tenants/{tenant_id}/grants', { path, body })
    : apiCall('POST', '/v1/tenants/{tenant_id}/grants/batch', { path, body: { grants: [...bodies] } });
}

/** Creates a grant for each grantee and each subject. Refused grants stay in the form for another attempt. */
export function MakeGrants({ tenantId, subject, onClose }: MakeGrantsProps) {
  const action = useAction<Made>(tenantPath(tenantId));
  const [outcome, setOutcome] = useState<GrantRequestsOutcome | null>(null);
  const start: GrantValues = {
    grantees: '',
    isAll: false,
    subjects: subject === undefined ? '' : `${subject}\n`,
    scopes: ['read_latest'],
    isPart: false,
    paths: '',
    start: '',
    until: '',
    purpose: '',
  };
  const form = useForm({
    start,
    action,
    callOf: (values) => {
      const { bodies } = wantedOf(values);
      return bodies.length === 0 || bodies.length > MOST ? null : callOf(tenantId, bodies);
    },
    onDone: (answer, values) => setOutcome(outcomeOf(null, wantedOf(values).bodies, answer)),
  });
  if (outcome !== null) {
    const bodies = outcome.refused.map(({ body }) => body);
    const again = (): void =>
      action.mutate(callOf(tenantId, bodies), {
        onSuccess: (answer) => setOutcome(outcomeOf(outcome, bodies, answer)),
      });
    return <MadeGrants outcome={outcome} action={action} onAgain={again} onClose={onClose} />;
  }
  const { grantees, isAll, subjects, scopes, isPart, paths, until } = form.values;
  const { bodies, granteeFault, subjectFault, pathsFault, startFault, untilFault } = wantedOf(form.values);
  const [of = null] = isAll ? [] : subjectsOf(subjects);
  return (
    <FormDialog title={WORDS.title} form={form} submit={WORDS.submit} onClose={onClose}>
      <TextArea
        label={WORDS.grantees}
        hint={WORDS.granteesHint}
        rows={2}
        {...form.text('grantees')}
        fault={granteeFault}
      />
      <KnownTenants
        tenantId={tenantId}
        grantees={grantees}
        onChoose={(id) => form.set({ grantees: `${grantees.trim()}\n${id}`.trim() })}
      />
      <SubjectsField tenantId={tenantId} isAll={isAll} subjects={subjects} fault={subjectFault} onChange={form.set} />
      <ScopeFields value={scopes} onChange={(value) => form.set({ scopes: value })} />
      <PartsField
        tenantId={tenantId}
        of={of}
        isPart={isPart}
        paths={paths}
        fault={paths === '' ? undefined : pathsFault}
        onChange={form.set}
      />
      <StartField {...form.text('start')} fault={startFault} />
      <UntilField value={until} onChange={(value) => form.set({ until: value })} fault={untilFault} />
      <TextField label={WORDS.purpose} hint={WORDS.purposeHint} maxLength={500} {...form.text('purpose')} />
      <p className={ui.quiet} role="status">
        {bodies.length > MOST ? WORDS.tooMany(MOST) : (isPart && pathsFault) || WORDS.willMake(bodies.length)}{' '}
        {bodies.length > 0 && scopes.map((scope) => SCOPE_TEXTS[scope]).join(' ')}
      </p>
    </FormDialog>
  );
}

interface KnownTenantsProps {
  tenantId: string;
  grantees: string;
  onChoose: (id: string) => void;
}

function KnownTenants({ tenantId, grantees, onChoose }: KnownTenantsProps) {
  const chosen = granteesOf(grantees);
  const known = useKnownTenants(tenantId).filter((id) => !chosen.includes(id));
  if (known.length === 0) return null;
  return (
    <Select
      label={WORDS.pick}
      value=""
      options={[{ value: '', label: WORDS.choose }, ...known.map((id) => ({ value: id, label: id }))]}
      onChange={(event) => onChoose(event.target.value)}
    />
  );
}
