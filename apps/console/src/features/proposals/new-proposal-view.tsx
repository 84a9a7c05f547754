import { useCallback, useDeferredValue, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { Link, useBlocker, useSearch } from '@tanstack/react-router';
import type { Snapshot } from '@identity-state/client';
import { SUBJECT_VIEW, useSubject } from '../../app/address.ts';
import { useMay } from '../../app/rights.ts';
import { receiptIn } from '../../entities/erased.ts';
import { useSubjectAccess, useSubjectHead } from '../../entities/subject-access.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextArea } from '../../ui/field.tsx';
import { visible } from '../../ui/jsx-runtime.ts';
import { Tab } from '../../ui/link.tsx';
import { Loaded, Empty, Loading, Notice, Page } from '../../ui/page.tsx';
import { LargeText } from '../../ui/text/large-text.tsx';
import { Place } from '../../ui/text/place.tsx';
import { ErasedNotice } from '../subject/erased.tsx';
import { useProvenance } from '../subject/provenance.ts';
import ui from '../../ui/ui.module.css';
import { AttributeForm } from './attribute-form.tsx';
import {
  carriedOver,
  contentFrom,
  contentOf,
  type JsonObject,
  type LeftOver,
  moveAttribution,
  draftPatch,
  valueAt,
} from './draft/content.ts';
import { type Draft, draftOn, drafts, isChanged, useDraft } from './draft/draft.ts';
import { type Faults, faultsOf } from './draft/faults.ts';
import { useReading } from './draft/reading.ts';
import { EvidenceForm, missingOf, type Proved, withEvidenceFor } from './evidence-form.tsx';
import { type FormContext, FormProvider } from './form-context.ts';
import { PatchPanel } from './patch-panel.tsx';
import { AfterProposal, type SendOutcome, proposing, Send, useSending } from './send.tsx';
import { useVersion } from './use-version.ts';
import { TEXT } from './words.ts';
import styles from './proposals.module.css';

const NEW = `${SUBJECT_VIEW}/proposals/new` as const;
const ROUTE = `/signed-in${NEW}` as const;
const JSON_ROWS = 32;
/** A longer text is edited in parts and parsed in a worker. */
const LARGE_TEXT = 100_000;

/** Changes the latest version in a form or as JSON; the address says which. */
export function NewProposalView() {
  const { tenantId, subjectId, params } = useSubject();
  const { path } = useSearch({ from: ROUTE });
  const access = useSubjectAccess().data;
  const isOthers = access?.isOwner === false;
  const may = useMay(tenantId);
  const mayAsk = access?.isFound === true && may('POST /v1/subjects/{subject_type}/{subject_id}/refresh-requests');
  const { data: header } = useSubjectHead(access);
  const receipt = receiptIn(header);
  const head = useVersion(isOthers || header === undefined || receipt !== null ? null : 'latest');
  if (receipt !== null) return <ErasedNotice receipt={receipt} />;
  if (!isOthers) return <Loaded query={head}>{(snapshot) => <Prepared head={snapshot} />}</Loaded>;
  return (
    <Page title={TEXT.newTitle(subjectId)}>
      <Empty title={TEXT.ownersChange}>
        {mayAsk && (
          <Link
            to={`${SUBJECT_VIEW}/requests`}
            params={params}
            search={path === undefined ? { ask: 'yes' } : { ask: 'yes', path }}
          >
            {TEXT.askOwner}
          </Link>
        )}
      </Empty>
    </Page>
  );
}

/** Loads the provenance first if the address asks for evidence, since it shows which other values need the same. */
function Prepared({ head }: { head: Snapshot }) {
  const { path } = useSearch({ from: ROUTE });
  const base = useDraft(useSubject())?.base ?? head;
  const { byPath, known, isWhole, error } = useProvenance(base.snapshot_version);
  const isKnown = isWhole || known > 0 || error !== null;
  return path === undefined || isKnown ? <Editor head={head} proved={byPath} /> : <Loading />;
}

function Editor({ head, proved }: { head: Snapshot; proved: Proved }) {
  const subject = useSubject();
  const { as, path: focus } = useSearch({ from: ROUTE });
  const kept = useDraft(subject);
  const [outcome, setOutcome] = useState<SendOutcome | null>(null);
  // Before the first edit there is no stored draft; the form shows the latest version.
  const address = useRef(subject);
  const begun = useMemo(() => {
    const draft = draftOn(address.current, head);
    if (focus === undefined || valueAt(draft.content, focus) === undefined) return draft;
    return withEvidenceFor(draft, focus, proved);
    // Later pages of provenance must not change an open form.
  }, [head, focus]);
  const draft = kept ?? begun;
  const edit = useCallback(
    (change: (draft: Draft) => Draft) => drafts.keep({ ...change(drafts.of(begun.subject) ?? begun), text: null }),
    [begun],
  );
  if (outcome !== null) return <AfterProposal {...outcome} />;
  return (
    <>
      <LeaveQuestion draft={kept} />
      <Form
        draft={draft}
        head={head}
        isJson={as === 'json'}
        focus={focus}
        proved={proved}
        edit={edit}
        onOutcome={setOutcome}
      />
    </>
  );
}

interface FormProps {
  draft: Draft;
  head: Snapshot;
  isJson: boolean;
  focus: string | undefined;
  proved: Proved;
  edit: (change: (draft: Draft) => Draft) => void;
  onOutcome: (outcome: SendOutcome) => void;
}

function Form({ draft, head, isJson, focus, proved, edit, onOutcome }: FormProps) {
  const { subject, base, baseContent, content, unread, text } = draft;
  useReading(draft);
  const later = useDeferredValue(content);
  const patch = useMemo(() => draftPatch(baseContent, later), [baseContent, later]);
  const sending = useSending(draft, onOutcome);
  const [isTried, setTried] = useState(false);
  const refused = useMemo(() => faultsOf(sending.error, sending.patch), [sending.error, sending.patch]);
  const missing = useMemo(() => missingOf(baseContent, later), [baseContent, later]);
  const faults = useMemo(
    (): Faults => (isTried ? { ...refused, places: new Map([...refused.places, ...missing]) } : refused),
    [isTried, refused, missing],
  );
  // In JSON mode, only the service reports missing members.
  const check = (): boolean => {
    if (isJson || missing.size === 0) return true;
    flushSync(() => setTried(true));
    document.querySelector<HTMLElement>('[data-new-evidence] [aria-invalid="true"]')?.focus();
    return false;
  };
  const call = proposing(draft, patch);
  const isPending = text?.isPending === true;
  const isReadable = Object.keys(unread).length === 0 && (text?.fault ?? null) === null;
  return (
    <Page
      title={TEXT.newTitle(subject.subjectId)}
      note={TEXT.newNote(base.snapshot_version)}
      actions={<EditAs isJson={isJson} focus={focus} />}
      call={call}
    >
      <Moved draft={draft} head={head} />
      {focus !== undefined && valueAt(content, focus) === undefined && (
        <Notice tone="warn">{TEXT.noPlace(focus)}</Notice>
      )}
      <div className={styles.split}>
        <div className={ui.page}>
          {isJson && <JsonForm draft={draft} />}
          {!isJson && text !== null && text.fault !== null && <UnreadText draft={draft} fault={text.fault} />}
          {!isJson && isPending && <Loading />}
          {!isJson && !isPending && (text?.fault ?? null) === null && (
            <Fields draft={draft} focus={focus} proved={proved} faults={faults} edit={edit} />
          )}
        </div>
        <div className={styles.side}>
          <PatchPanel
            patch={patch}
            base={baseContent}
            content={later}
            version={base.snapshot_version}
            faults={faults.operations}
          />
          <Send draft={draft} isReadable={isReadable} isEmpty={patch.length === 0} sending={sending} check={check} />
        </div>
      </div>
    </Page>
  );
}

type FieldsProps = Pick<FormProps, 'draft' | 'focus' | 'proved' | 'edit'> & { faults: Faults };

function Fields({ draft, focus, proved, faults, edit }: FieldsProps) {
  const { baseContent, content, unread } = draft;
  const [beside, setBeside] = useState(focus);
  const [place, setPlace] = useState<HTMLElement | null>(null);
  const { evidence: items, attribute_paths: paths, attributes } = content;
  const form = useMemo((): FormContext => {
    const evidence: JsonObject = {
      ...(items === undefined ? {} : { evidence: items }),
      ...(paths === undefined ? {} : { attribute_paths: paths }),
    };
    return {
      base: baseContent,
      evidence,
      faults: faults.places,
      focus,
      edit,
      addEvidence: (pointer) => {
        edit((before) => withEvidenceFor(before, pointer, proved));
        setBeside(pointer);
      },
      proved,
      beside,
      placeBeside: setPlace,
    };
  }, [baseContent, items, paths, faults.places, focus, edit, proved, beside]);
  return (
    <FormProvider value={form}>
      <section className={ui.card} aria-label={TEXT.attributes}>
        <h2>{TEXT.attributes}</h2>
        <AttributeForm attributes={attributes ?? {}} unread={unread} />
      </section>
      <EvidenceForm
        draft={draft}
        focus={focus}
        faults={faults.places}
        edit={edit}
        beside={beside === undefined || place === null ? null : { pointer: beside, place }}
      />
    </FormProvider>
  );
}

function EditAs({ isJson, focus }: { isJson: boolean; focus: string | undefined }) {
  const { params } = useSubject();
  const kept = focus === undefined ? {} : { path: focus };
  return (
    <nav className={styles.switch} aria-label={TEXT.editAs}>
      <Tab to={NEW} params={params} search={kept} replace isCurrent={!isJson} isPlain>
        {TEXT.form}
      </Tab>
      <Tab to={NEW} params={params} search={{ ...kept, as: 'json' }} replace isCurrent={isJson} isPlain>
        {TEXT.json}
      </Tab>
    </nav>
  );
}

function JsonForm({ draft }: { draft: Draft }) {
  const { content, text } = draft;
  // A text with escapes is the same JSON.
  const typed = useMemo(() => text?.typed ?? visible(JSON.stringify(content, null, 2)), [text?.typed, content]);
  const field = {
    label: TEXT.jsonLabel,
    hint: TEXT.jsonHint,
    fault: text?.fault ?? undefined,
    rows: JSON_ROWS,
    value: typed,
  };
  const type = (next: string): void => drafts.keep(withText(draft, next));
  const typeLarge = (next: string): void =>
    drafts.keep({ ...draft, text: { typed: next, fault: null, isPending: true } });
  return (
    <div className={styles.json}>
      {typed.length > LARGE_TEXT ? (
        <LargeText {...field} onChange={typeLarge} />
      ) : (
        <TextArea {...field} wrap="off" onChange={(event) => type(event.target.value)} />
      )}
    </div>
  );
}

/** Stores the typed JSON, and its content as soon as it can be parsed. */
function withText(draft: Draft, typed: string): Draft {
  try {
    return {
      ...draft,
      content: moveAttribution(draft.baseContent, contentFrom(typed)),
      unread: {},
      text: { typed, fault: null, isPending: false },
    };
  } catch (error) {
    return {
      ...draft,
      text: { typed, fault: error instanceof Error ? error.message : String(error), isPending: false },
    };
  }
}

/** Shown instead of the form, which would overwrite the typed JSON. */
function UnreadText({ draft, fault }: { draft: Draft; fault: string }) {
  const { params } = useSubject();
  return (
    <Notice tone="bad">
      <p>
        {TEXT.jsonFault} {fault}
      </p>
      <Link to={NEW} params={params} search={{ as: 'json' }} replace>
        {TEXT.backToJson}
      </Link>{' '}
      <Button kind="plain" onClick={() => drafts.keep({ ...draft, text: null })}>
        {TEXT.letGo}
      </Button>
    </Notice>
  );
}

/** Offers to rebase a draft whose base is stale, or shows the result of the rebase. */
function Moved({ draft, head }: { draft: Draft; head: Snapshot }) {
  const { base, baseContent, content, left, both } = draft;
  if (head.snapshot_version > base.snapshot_version) {
    const carry = (): void => {
      const over = carriedOver(baseContent, content, contentOf(head.envelope));
      drafts.keep({
        ...draftOn(draft.subject, head),
        ...over,
        isCorrection: draft.isCorrection,
        replaces: draft.replaces,
      });
    };
    return (
      <Notice tone="warn">
        <p>{TEXT.moved(head.snapshot_version, base.snapshot_version)}</p>
        <Button onClick={carry}>{TEXT.carry(head.snapshot_version)}</Button>
      </Notice>
    );
  }
  if (left.length === 0 && both.length === 0) return null;
  return (
    <Notice tone="warn">
      <p>{TEXT.carried(base.snapshot_version)}</p>
      <Places title={TEXT.both} places={both.map((path) => ({ path, message: '' }))} />
      <Places title={TEXT.left} places={left} />
    </Notice>
  );
}

function Places({ title, places }: { title: string; places: readonly LeftOver[] }) {
  if (places.length === 0) return null;
  return (
    <>
      <p>{title}</p>
      <ul>
        {places.map(({ path, message }) => (
          <li key={path}>
            <Place pointer={path} /> {message}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Asks before a user leaves the subject with unsent changes. Tabs of the subject keep them. */
function LeaveQuestion({ draft }: { draft: Draft | null }) {
  const { subjectId, subjectType, tenantId } = useSubject();
  const blocker = useBlocker({
    shouldBlockFn: ({ next }) => {
      const params: Readonly<Record<string, string>> = next.params;
      const stays =
        params['subjectId'] === subjectId && params['subjectType'] === subjectType && params['tenantId'] === tenantId;
      return !stays && draft !== null && isChanged(draft);
    },
    enableBeforeUnload: false,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <Dialog title={TEXT.leaveTitle} role="alertdialog" isOpen onClose={blocker.reset}>
      <p>{TEXT.leaveText(subjectId)}</p>
      <div className={ui.dialogFoot}>
        <Button kind="primary" onClick={blocker.reset} autoFocus>
          {TEXT.stay}
        </Button>
        <Button onClick={blocker.proceed}>{TEXT.leaveKeep}</Button>
        <Button
          kind="danger"
          onClick={() => {
            if (draft !== null) drafts.drop(draft.subject);
            blocker.proceed();
          }}
        >
          {TEXT.leaveDiscard}
        </Button>
      </div>
    </Dialog>
  );
}
