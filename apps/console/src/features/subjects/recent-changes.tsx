import { Link } from '@tanstack/react-router';
import { type Change, momentOfChange } from '@identity-state/client';
import { useTenantId } from '../../app/address.ts';
import { apiCall, useList } from '../../app/api.ts';
import { useFeed } from '../../app/live.ts';
import { keyOfSubject, OwnSubject, SubjectLink } from '../../entities/subject.tsx';
import { Badge, Problem, Section } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';
import ui from '../../ui/ui.module.css';
import { TEXT } from './words.ts';
import styles from './styles.module.css';

const RECENT = 8;
const LACKING = 5;

/** Shows recent changes, and subjects that lack evidence. */
export function RecentChanges() {
  return (
    <div className={styles.aside}>
      <Recent />
      <Section title={TEXT.lacking}>
        <Lacking evidence="missing" title={TEXT.missingTitle} text={TEXT.missingText} />
        <Lacking evidence="carried" title={TEXT.carriedTitle} text={TEXT.carriedText} />
      </Section>
    </div>
  );
}

function Lacking({ evidence, title, text }: { evidence: 'missing' | 'carried'; title: string; text: string }) {
  const tenantId = useTenantId();
  const { items, hasNextPage, isPending, error } = useList(
    apiCall('GET', '/v1/tenants/{tenant_id}/subjects', {
      path: { tenant_id: tenantId },
      query: { evidence, limit: LACKING },
    }),
  );
  return (
    <div className={styles.lacking}>
      <h3>{title}</h3>
      <p className={ui.quiet}>{text}</p>
      {error !== null && <Problem error={error} />}
      {items.length > 0 && (
        <ul className={styles.plainList}>
          {items.map((subject) => (
            <li key={keyOfSubject(subject)}>
              <OwnSubject tenantId={tenantId} subject={subject} />
            </li>
          ))}
        </ul>
      )}
      {items.length === 0 && !isPending && error === null && <p>{TEXT.noneMissing}</p>}
      {hasNextPage && (
        <Link to="/t/$tenantId/subjects" params={{ tenantId }} search={{ evidence }}>
          {TEXT.all}
        </Link>
      )}
    </div>
  );
}

function Recent() {
  const tenantId = useTenantId();
  const { changes, state } = useFeed(tenantId);
  return (
    <Section
      title={TEXT.recent}
      actions={
        <Badge tone={state === 'live' ? 'good' : state === 'reconnecting' ? 'warn' : 'plain'}>{TEXT.feed[state]}</Badge>
      }
    >
      {changes.length === 0 ? (
        <p className={ui.quiet}>{TEXT.noRecent}</p>
      ) : (
        <ol className={styles.plainList}>
          {changes.slice(0, RECENT).map((change) => (
            <li key={change.log_index}>
              <ChangedSubject tenantId={tenantId} change={change} />
              <span className={styles.what}>
                {TEXT.changes[change.type]} {detailOf(change)} · <Time at={momentOfChange(change)} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

function ChangedSubject({ tenantId, change }: { tenantId: string; change: Change }) {
  if (change.type === 'tenant.owner_changed') return TEXT.tenantItself(change.tenant_id);
  const { subject_type: type, subject_id: id } = change.subject;
  return type === '*' ? TEXT.allSubjects : <SubjectLink tenantId={tenantId} type={type} id={id} />;
}

function detailOf(change: Change): string {
  switch (change.type) {
    case 'snapshot.created':
      return String(change.snapshot_version);
    case 'grant.created':
    case 'grant.changed':
    case 'grant.revoked':
      return change.grantee_tenant_id;
    case 'tenant.owner_changed':
    case 'subject.erased':
      return '';
  }
}
