import { useSearch } from '@tanstack/react-router';
import { isJsonObject } from '@iss/domain/pure';
import { VerificationError } from '@identity-state/client';
import { OF_SUBJECT, SUBJECT_VIEW, type SubjectAddress, useSubject } from '../../app/address.ts';
import { type ApiCall, apiCall } from '../../app/api.ts';
import { receiptOfError } from '../../entities/erased.ts';
import { type SubjectAccess, useSubjectAccess, useSubjectHead } from '../../entities/subject-access.ts';
import { PartNotice, shownPaths } from '../../entities/part.tsx';
import { Correction, useVersions } from '../../entities/versions.tsx';
import { Button } from '../../ui/button.tsx';
import { Hash } from '../../ui/copy.tsx';
import { download } from '../../ui/download.ts';
import { Fold } from '../../ui/fold.tsx';
import { Tab } from '../../ui/link.tsx';
import { Loaded, Badge, Empty, Loading, Notice, Page, Problem } from '../../ui/page.tsx';
import { Json } from '../../ui/text/json.tsx';
import { Time } from '../../ui/time.tsx';
import ui from '../../ui/ui.module.css';
import { OfferButton } from '../offer/offer-button.tsx';
import { type Content, useContent, type WantedVersion } from './content.ts';
import { ErasedNotice } from './erased.tsx';
import { EvidenceItems } from './evidence-items.tsx';
import { Values } from './values.tsx';
import { VersionBar } from './version-bar.tsx';
import { TEXT } from './words.ts';
import styles from './subject.module.css';

const ADDRESS = `/signed-in${SUBJECT_VIEW}/` as const;

/** Shows the values, evidence and envelope of a version, after this browser verified them. */
export function AttributesView() {
  const access = useSubjectAccess();
  return <Loaded query={access}>{(known) => <Attributes access={known} />}</Loaded>;
}

function Attributes({ access }: { access: SubjectAccess }) {
  const subject = useSubject();
  const search = useSearch({ from: ADDRESS });
  const head = useSubjectHead(access);
  const { isKnown, receiptOf } = useVersions();
  const wanted = wantedBy(search, head.data?.snapshot_version, access);
  const receipt = wanted === null || wanted.by === 'moment' ? null : receiptOf(wanted.version);
  const content = useContent(isKnown && receipt === null ? wanted : null);
  const isReadable = access.may('read_latest', 'read_lineage', 'read_snapshot_by_id');
  const erased = receipt ?? receiptOfError(content.error);
  const shown = erased?.snapshot_version ?? content.data?.snapshot.snapshot_version;
  return (
    <Page title={TEXT.title} {...(wanted === null ? {} : { call: callOf(subject, wanted) })}>
      {head.error !== null && <Problem error={head.error} />}
      {!isReadable && <Empty title={TEXT.noReadTitle} text={TEXT.noReadText} />}
      {isReadable && (
        <VersionBar
          key={`${shown} ${search.as_of} ${search.basis}`}
          access={access}
          shown={shown ?? null}
          latest={head.data?.snapshot_version ?? null}
        />
      )}
      {isReadable && wanted === null && head.error === null && <Waiting access={access} />}
      {erased !== null && <ErasedNotice receipt={erased} />}
      {wanted !== null && erased === null && <Answered content={content} access={access} />}
    </Page>
  );
}

function Waiting({ access }: { access: SubjectAccess }) {
  if (access.may('read_latest', 'read_lineage')) return <Loading />;
  return <Empty title={TEXT.chooseTitle} text={TEXT.chooseText} />;
}

interface Asked {
  readonly version?: string;
  readonly as_of?: string;
  readonly basis?: string;
}

function wantedBy(
  { version, as_of: asOf, basis }: Asked,
  latest: number | undefined,
  access: SubjectAccess,
): WantedVersion | null {
  if (asOf !== undefined) return { by: 'moment', asOf, basis: basis === 'effective' ? 'effective' : 'recorded' };
  if (version !== undefined) return { by: 'version', version: Number(version) };
  if (latest === undefined) return null;
  return { by: access.may('read_lineage', 'read_snapshot_by_id') ? 'version' : 'latest', version: latest };
}

function callOf({ ids }: SubjectAddress, wanted: WantedVersion): ApiCall {
  if (wanted.by === 'version') {
    const path = { ...ids, snapshot_version: wanted.version };
    return apiCall('GET', `${OF_SUBJECT}/snapshots/{snapshot_version}`, { path });
  }
  const query = wanted.by === 'moment' ? { query: { as_of: wanted.asOf, basis: wanted.basis } } : {};
  return apiCall('GET', `${OF_SUBJECT}/snapshots/latest`, { path: ids, ...query });
}

function Answered({ content, access }: { content: ReturnType<typeof useContent>; access: SubjectAccess }) {
  const { data, error } = content;
  // If the verification fails, no content is shown, not even earlier content.
  if (error instanceof VerificationError) return <Unverified error={error} />;
  if (error !== null && data === undefined) return <Problem error={error} retry={() => void content.refetch()} />;
  if (data === undefined) return <Loading />;
  return (
    <>
      {error !== null && <Problem error={error} retry={() => void content.refetch()} />}
      <Shown key={data.snapshot.snapshot_id} content={data} access={access} />
    </>
  );
}

function Shown({ content, access }: { content: Content; access: SubjectAccess }) {
  const { snapshot } = content;
  const { params } = useSubject();
  const search = useSearch({ from: ADDRESS });
  const { show } = search;
  const { envelope, snapshot_version: version } = snapshot;
  const parts = [
    ['', TEXT.values],
    ['evidence', `${TEXT.evidence} (${envelope.evidence.length.toLocaleString()})`],
    ['envelope', TEXT.envelope],
  ] as const;
  return (
    <>
      <PartNotice of={[snapshot]} />
      <Verification content={content} access={access} />
      <nav className={ui.tabs} aria-label={TEXT.shown}>
        {parts.map(([name, label]) => (
          <Tab
            key={label}
            to={SUBJECT_VIEW}
            params={params}
            search={{ ...search, show: name }}
            isCurrent={(show ?? '') === name}
            resetScroll={false}
          >
            {label}
          </Tab>
        ))}
      </nav>
      {show === 'evidence' ? (
        <EvidenceItems envelope={envelope} />
      ) : show === 'envelope' ? (
        <>
          <div>
            <Button
              small
              onClick={() =>
                download(`${params.subjectId}-v${version}.json`, 'application/json', [
                  JSON.stringify(envelope, null, 2),
                ])
              }
            >
              {TEXT.download}
            </Button>
          </div>
          <Json value={envelope} label={TEXT.envelopeLabel} />
        </>
      ) : (
        <Values content={content} hasProvenance={access.may('read_lineage')} />
      )}
    </>
  );
}

/** Says that this browser verified the content, and when and by whom it was written. Offers a credential of it. */
function Verification({ content, access }: { content: Content; access: SubjectAccess }) {
  const { snapshot, isVerified } = content;
  const { envelope_hash: hash, written_by: writer } = snapshot;
  // A partial version has no audit.
  const audit: unknown = snapshot.envelope['audit'];
  const claimed = isJsonObject(audit) ? audit['created_by'] : writer;
  const isPart = shownPaths(snapshot) !== null;
  const badge = (
    <Badge tone={isVerified ? 'good' : 'warn'}>
      {isVerified ? '✓' : '?'} {isVerified ? TEXT.verified : TEXT.unhashed}
    </Badge>
  );
  return (
    <div className={styles.verification}>
      <Fold title={badge}>
        <span className={styles.badge}>{badge} </span>
        <span>
          {isPart ? TEXT.partText : isVerified ? TEXT.verifiedText : TEXT.unhashedText}{' '}
          {hash !== null && <Hash value={hash} />}
        </span>
        <span className={styles.times}>
          {TEXT.effectiveAt} <Time at={snapshot.generated_at} /> · {TEXT.storedAt.toLowerCase()}{' '}
          <Time at={snapshot.created_at} />{' '}
          {typeof claimed === 'string' && `${TEXT.by} ${TEXT.writer(claimed, writer)}`} <Correction of={snapshot} />{' '}
          <OfferButton snapshot={snapshot} access={access} />
        </span>
      </Fold>
    </div>
  );
}

function Unverified({ error }: { error: VerificationError }) {
  return (
    <>
      <Problem error={error} />
      <Notice tone="bad">
        <p>
          <Badge tone="bad">✗ {TEXT.failed}</Badge> {TEXT.failures[error.failure]}
        </p>
        {TEXT.failedText}
      </Notice>
    </>
  );
}
