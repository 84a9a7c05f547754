import { useState } from 'react';
import type { api } from '@identity-state/client';
import { apiCall, tenantPath, useAction } from '../../app/api.ts';
import { type Grant, namesOf, type Scope } from '../../entities/grant.tsx';
import { useTrustedKeys } from '../../entities/trusted-keys.ts';
import { FormDialog, instantOf, localOf, useForm } from '../../forms/form.tsx';
import { Select, TextField } from '../../ui/field.tsx';
import type { ProvenFact } from '../verify/fact-proof.tsx';
import ui from '../../ui/ui.module.css';
import { LogProofDialog } from './log-proof.tsx';
import { ScopeFields, StartField, UntilField } from './make/grant-fields.tsx';
import { faultsOfPeriod } from './make/grants-to-make.ts';
import { faultOfPaths, pathsOf } from './make/parts.ts';
import { PartsField } from './make/parts-field.tsx';
import { TEXT } from './words.ts';

export const OF_GRANT = '/v1/tenants/{tenant_id}/grants/{grant_id}';

interface GrantDialogProps {
  tenantId: string;
  grant: Grant;
  onClose: () => void;
}

interface ChangeValues extends Record<string, string | boolean | readonly string[]> {
  readonly scopes: readonly Scope[];
  readonly isPart: boolean;
  /** One path on each line. */
  readonly paths: string;
  readonly start: string;
  readonly until: string;
  readonly purpose: string;
  readonly reason: string;
}

/** Narrows or extends a grant. Sends only the changed members. */
export function ChangeGrant({ tenantId, grant, onClose }: GrantDialogProps) {
  const words = TEXT.patch;
  const before = (grant.paths ?? []).join('\n');
  const isScheduled = grant.status === 'scheduled';
  const start: ChangeValues = {
    scopes: grant.scopes,
    isPart: grant.paths !== null,
    paths: before,
    start: isScheduled ? localOf(grant.starts_at) : '',
    until: localOf(grant.expires_at),
    purpose: grant.purpose ?? '',
    reason: '',
  };
  const form = useForm({
    start,
    action: useAction<Grant>(tenantPath(tenantId)),
    callOf: ({ scopes, isPart, paths, start: from, until, purpose, reason }) => {
      const parts = isPart ? pathsOf(paths) : null;
      const body: api.ChangeGrantBody = {
        ...(hasSame(scopes, grant.scopes) ? {} : { scopes: [...scopes] }),
        ...(JSON.stringify(parts) === JSON.stringify(grant.paths) ? {} : { paths: parts }),
        ...(from === start.start ? {} : { starts_at: instantOf(from) }),
        ...(until === localOf(grant.expires_at) ? {} : { expires_at: instantOf(until) }),
        ...(purpose.trim() === (grant.purpose ?? '') ? {} : { purpose: purpose.trim() === '' ? null : purpose.trim() }),
      };
      const faults = faultsOfPeriod({ start: from, until });
      const isWrong =
        scopes.length === 0 ||
        (parts !== null && faultOfPaths(parts) !== undefined) ||
        (body.starts_at !== undefined && faults.startFault !== undefined) ||
        (body.expires_at !== undefined && faults.untilFault !== undefined);
      if (isWrong || Object.keys(body).length === 0) return null;
      return apiCall('PATCH', OF_GRANT, {
        path: { tenant_id: tenantId, grant_id: grant.grant_id },
        body: { ...body, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) },
      });
    },
    onDone: onClose,
  });
  const { scopes, isPart, paths, start: from, until } = form.values;
  const { startFault, untilFault } = faultsOfPeriod({ start: from, until });
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
        fault={isPart && paths !== '' ? faultOfPaths(pathsOf(paths)) : undefined}
        onChange={form.set}
      />
      {isScheduled && (
        <StartField
          value={from}
          onChange={(value) => form.set({ start: value })}
          fault={from === start.start ? undefined : startFault}
        />
      )}
      <UntilField
        value={until}
        onChange={(value) => form.set({ until: value })}
        fault={until === start.until ? undefined : untilFault}
      />
      <TextField label={TEXT.make.purpose} maxLength={500} {...form.text('purpose')} />
      <TextField label={words.reason} hint={words.reasonHint} maxLength={500} {...form.text('reason')} />
      <p className={ui.quiet} role="status">
        {form.call === null && words.nothing} {taken.length > 0 && words.narrower(namesOf(taken))}{' '}
        {added.length > 0 && words.wider(namesOf(added))}
      </p>
    </FormDialog>
  );
}

function hasSame(one: readonly Scope[], other: readonly Scope[]): boolean {
  return one.length === other.length && one.every((scope) => other.includes(scope));
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
