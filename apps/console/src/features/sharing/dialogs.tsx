import { useState } from 'react';
import { apiCall, tenantPath, useAction } from '../../app/api.ts';
import { type Grant, scopeNames } from '../../entities/grant.tsx';
import { useTrustedKeys } from '../../entities/trusted-keys.ts';
import { FormDialog, localOf, changedMembers, useForm } from '../../forms/form.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import type { ProvenFact } from '../verify/fact-proof.tsx';
import ui from '../../ui/ui.module.css';
import { LogProofDialog } from './log-proof.tsx';
import { ScopeFields, StartField, UntilField } from './make/grant-fields.tsx';
import { faultsOfPeriod, termsOf, type TermValues } from './make/grants-to-make.ts';
import { faultOfPaths, pathsOf } from './make/parts.ts';
import { PartsField } from './make/parts-field.tsx';
import { TEXT } from './words.ts';

export const OF_GRANT = '/v1/tenants/{tenant_id}/grants/{grant_id}';

interface GrantDialogProps {
  tenantId: string;
  grant: Grant;
  onClose: () => void;
}

interface ChangeValues extends TermValues {
  readonly reason: string;
}

function valuesOf({ status, scopes, paths, starts_at: start, expires_at: end, purpose }: Grant): ChangeValues {
  return {
    scopes,
    isPart: paths !== null,
    paths: (paths ?? []).join('\n'),
    start: status === 'scheduled' ? localOf(start) : '',
    until: localOf(end),
    purpose: purpose ?? '',
    reason: '',
  };
}

/** Returns the errors of the values. An unchanged start or end has none. */
function faultsOf(values: ChangeValues, before: ChangeValues) {
  const { startFault, untilFault } = faultsOfPeriod(values);
  return {
    paths: values.isPart ? faultOfPaths(pathsOf(values.paths)) : undefined,
    start: values.start === before.start ? undefined : startFault,
    until: values.until === before.until ? undefined : untilFault,
  };
}

/** Narrows or extends a grant. Sends only the changed members. */
export function ChangeGrant({ tenantId, grant, onClose }: GrantDialogProps) {
  const words = TEXT.patch;
  const start = valuesOf(grant);
  const form = useForm({
    start,
    action: useAction<Grant>(tenantPath(tenantId)),
    callOf: (values) => {
      const body = changedMembers(termsOf(start), termsOf(values));
      const isWrong =
        values.scopes.length === 0 || Object.values(faultsOf(values, start)).some((one) => one !== undefined);
      if (isWrong || Object.keys(body).length === 0) return null;
      const reason = values.reason.trim();
      return apiCall('PATCH', OF_GRANT, {
        path: { tenant_id: tenantId, grant_id: grant.grant_id },
        body: { ...body, ...(reason === '' ? {} : { reason }) },
      });
    },
    onDone: onClose,
  });
  const { scopes, isPart, paths, until } = form.values;
  const faults = faultsOf(form.values, start);
  const taken = grant.scopes.filter((scope) => !scopes.includes(scope));
  const added = scopes.filter((scope) => !grant.scopes.includes(scope));
  return (
    <FormDialog
      title={words.title(grant.grantee_tenant_id)}
      note={words.note}
      form={form}
      submit={words.submit}
      onClose={onClose}
    >
      <ScopeFields value={scopes} onChange={(value) => form.set({ scopes: value })} />
      <PartsField
        tenantId={tenantId}
        of={grant.subject_type === '*' ? null : { type: grant.subject_type, id: grant.subject_id }}
        isPart={isPart}
        paths={paths}
        fault={paths === '' ? undefined : faults.paths}
        onChange={form.set}
      />
      {grant.status === 'scheduled' && <StartField {...form.text('start')} fault={faults.start} />}
      <UntilField value={until} onChange={(value) => form.set({ until: value })} fault={faults.until} />
      <TextField label={TEXT.make.purpose} maxLength={500} {...form.text('purpose')} />
      <TextField label={words.reason} hint={words.reasonHint} maxLength={500} {...form.text('reason')} />
      <p className={ui.quiet} role="status">
        {form.call === null && words.nothing} {taken.length > 0 && words.narrower(scopeNames(taken))}{' '}
        {added.length > 0 && words.wider(scopeNames(added))}
      </p>
    </FormDialog>
  );
}

type Fact = keyof typeof TEXT.proving.facts;

function isFact(text: string): text is Fact {
  return Object.hasOwn(TEXT.proving.facts, text);
}

/** Shows the log's proof of a grant's current state, creation, change or revocation. */
export function GrantProof({ tenantId, grant, onClose }: GrantDialogProps) {
  const words = TEXT.proving;
  const { hasMap } = useTrustedKeys();
  const [chosen, choose] = useState<Fact | null>(null);
  const isRevoked = grant.status === 'revoked';
  const fact = chosen ?? (hasMap ? 'state' : isRevoked ? 'revoked' : 'created');
  const facts: readonly Fact[] = [
    ...(hasMap ? (['state'] as const) : []),
    ...(['created', 'changed'] as const),
    ...(isRevoked ? (['revoked'] as const) : []),
  ];
  const path = { tenant_id: tenantId, grant_id: grant.grant_id };
  const proof: ProvenFact<object> =
    fact === 'state'
      ? { call: apiCall('GET', `${OF_GRANT}/state-proof`, { path }), expected: { grant_id: grant.grant_id } }
      : {
          call: apiCall('GET', `${OF_GRANT}/log-proof`, { path, query: { fact } }),
          expected: { type: `grant.${fact}`, ...path },
        };
  return (
    <LogProofDialog tenantId={tenantId} {...proof} onClose={onClose}>
      <Select
        label={words.fact}
        value={fact}
        options={facts.map((value) => ({ value, label: words.facts[value] }))}
        onChange={(event) => isFact(event.target.value) && choose(event.target.value)}
      />
    </LogProofDialog>
  );
}
