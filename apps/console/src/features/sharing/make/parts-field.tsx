import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { formatPointer, isJsonObject, type JsonObject, type JsonValue, parsePointer } from '@iss/domain/pure';
import type { SubjectType } from '@identity-state/client';
import { tenantPath } from '../../../app/api.ts';
import { useClient } from '../../../app/context.tsx';
import { Button } from '../../../ui/button.tsx';
import { TextArea } from '../../../ui/field.tsx';
import { Loaded } from '../../../ui/page.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { textOfValue } from '../../../ui/text/place.tsx';
import { TEXT } from '../words.ts';
import ui from '../../../ui/ui.module.css';
import styles from '../styles.module.css';
import { Either } from './grant-fields.tsx';
import { ATTRIBUTES, pathsOf, previewOf, shownOf, toggle } from './parts.ts';

const WORDS = TEXT.parts;
/** The number of members of a group that are shown. */
const MOST_MEMBERS = 200;
const MAX_VALUE = 60;

/** A subject, or the content of a version. */
type Source = Subject | { readonly content: unknown };
interface Subject {
  readonly type: SubjectType;
  readonly id: string;
}

interface PartsFieldProps {
  tenantId: string;
  /** The version from which the user chooses, or the subject with the latest one; null if there is none. */
  of: Source | null;
  /** False to share the whole version. */
  isPart: boolean;
  /** One path on each line. */
  paths: string;
  fault: string | undefined;
  onChange: (change: { isPart?: boolean; paths?: string }) => void;
}

/** Chooses the whole version, or the attributes to share, and shows what the grantee will see of them. */
export function PartsField({ tenantId, of, isPart, paths, fault, onChange }: PartsFieldProps) {
  return (
    <Either
      legend={WORDS.legend}
      labels={[WORDS.whole, WORDS.some]}
      value={isPart}
      onChange={(part) => onChange({ isPart: part })}
    >
      {isPart && (
        <>
          {of === null ? (
            <p className={ui.quiet}>{WORDS.noSubject}</p>
          ) : 'content' in of ? (
            <Choice content={of.content} paths={paths} onPaths={(text) => onChange({ paths: text })} />
          ) : (
            <FromLatest tenantId={tenantId} of={of} paths={paths} onPaths={(text) => onChange({ paths: text })} />
          )}
          <TextArea
            label={WORDS.paths}
            hint={WORDS.pathsHint}
            rows={3}
            value={paths}
            fault={fault}
            onChange={(event) => onChange({ paths: event.target.value })}
          />
        </>
      )}
    </Either>
  );
}

interface ChoiceProps {
  paths: string;
  onPaths: (paths: string) => void;
}

function FromLatest({ tenantId, of: { type, id }, ...choice }: ChoiceProps & { tenantId: string; of: Subject }) {
  const client = useClient();
  const latest = useQuery({
    queryKey: [...tenantPath(tenantId, 'subjects', type, id).split('/').slice(1), 'snapshots', 'latest', 'parts'],
    queryFn: async ({ signal }) => client.tenant(tenantId).subject(type, id).latest({ signal }),
  });
  return (
    <Loaded query={latest}>
      {({ envelope }) => <Choice note={WORDS.treeOf(id)} content={envelope} {...choice} />}
    </Loaded>
  );
}

/** Shows the attributes of a version with check boxes, and beside them what the paths show of it. */
function Choice({ note, content, paths: text, onPaths }: ChoiceProps & { note?: string; content: unknown }) {
  if (!isJsonObject(content) || !isJsonObject(content['attributes'])) return null;
  const { attributes } = content;
  const paths = pathsOf(text);
  return (
    <div className={styles.parts}>
      <div>
        {note !== undefined && <p className={ui.quiet}>{note}</p>}
        <div role="group" aria-label={WORDS.tree} className={styles.tree}>
          <Members
            group={attributes}
            tokens={parsePointer(ATTRIBUTES)}
            paths={paths}
            onToggle={(path) => onPaths(toggle(paths, path, attributes).join('\n'))}
          />
        </div>
      </div>
      <div>
        <p>{WORDS.preview}</p>
        <Json value={previewOf(content, paths)} label={WORDS.preview} />
      </div>
    </div>
  );
}

interface MembersProps {
  group: JsonObject;
  /** The reference tokens of the pointer to the group. */
  tokens: readonly string[];
  paths: readonly string[];
  onToggle: (path: string) => void;
}

function Members({ group, tokens, ...rest }: MembersProps) {
  const members = Object.entries(group);
  return (
    <ul className={styles.members}>
      {members.slice(0, MOST_MEMBERS).map(([name, value]) => (
        <Member key={name} name={name} value={value} tokens={[...tokens, name]} {...rest} />
      ))}
      {members.length > MOST_MEMBERS && <li className={ui.quiet}>{WORDS.more(members.length - MOST_MEMBERS)}</li>}
    </ul>
  );
}

function Member({
  name,
  value,
  tokens,
  paths,
  onToggle,
}: Omit<MembersProps, 'group'> & { name: string; value: JsonValue }) {
  const path = formatPointer(tokens);
  const shown = shownOf(paths, path);
  const isGroup = isJsonObject(value) && Object.keys(value).length > 0;
  const [isOpen, setOpen] = useState(tokens.length === 2);
  const text = isGroup ? '' : textOfValue(value);
  return (
    <li>
      <span className={ui.row}>
        <label title={path}>
          <input
            type="checkbox"
            checked={shown === 'all'}
            ref={(box) => {
              if (box !== null) box.indeterminate = shown === 'some';
            }}
            onChange={() => onToggle(path)}
          />{' '}
          {name} <span className={ui.quiet}>{text.slice(0, MAX_VALUE) + (text.length > MAX_VALUE ? '…' : '')}</span>
        </label>
        {isGroup && (
          <Button
            small
            kind="plain"
            aria-expanded={isOpen}
            aria-label={WORDS.open(name)}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? '▾' : '▸'}
          </Button>
        )}
      </span>
      {isGroup && isOpen && <Members group={value} tokens={tokens} paths={paths} onToggle={onToggle} />}
    </li>
  );
}
