import type { Version } from '@identity-state/client';
import { type Command, hasFlag, numberOf, textOf } from '../command';
import { DEFAULT_LIMIT, LIST_OPTIONS, MAX_LIMIT, type Style, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS, POLICY_OPTION } from '../service/caller';
import { changesBetween } from '../service/changes';
import { evidenceText, isAttribution } from '../service/evidence';
import { SUBJECT_ARGUMENT, subjectOf } from '../service/subject-name';
import { visible } from '../visible';

/** Paths that an entry names. */
const SHOWN_PATHS = 6;

/** Shows the versions of a subject, newest first. */
export const log: Command = {
  about:
    'Each version is verified, also that it is the one before of the next. What changed is computed here from the two versions; ' +
    'of the oldest one that is shown it is not said.',
  arguments: [SUBJECT_ARGUMENT],
  options: { oneline: { about: 'A line a version.' }, ...LIST_OPTIONS, ...POLICY_OPTION, ...CALLER_OPTIONS },
  async run(options, context) {
    const { print } = context;
    const { type, id } = subjectOf(textOf(options, 'subject') ?? '');
    const most = numberOf(options, 'limit', [1, MAX_LIMIT]) ?? DEFAULT_LIMIT;
    const style = styleOf(context.screen);
    const show = (version: Version, before: Version | null, isLast: boolean): void => {
      if (hasFlag(options, 'json')) print(JSON.stringify(version));
      else if (hasFlag(options, 'oneline')) print(asLine(version, before, style));
      else print(`${asText(version, before, style)}${isLast ? '' : '\n'}`);
    };
    await asCaller(options, context, async ({ tenant }) => {
      let count = 0;
      let shown: Version | null = null;
      for await (const version of tenant.subject(type, id).history()) {
        if (shown !== null) show(shown, version, false);
        shown = version;
        if (++count > most) break;
      }
      if (count > most) context.complain(`There are more than ${most} versions: --limit N shows more of them.`);
      else if (shown !== null) show(shown, null, true);
    });
  },
};

function asLine(version: Version, before: Version | null, style: Style): string {
  const { snapshot_version: number, envelope, created_at: storedAt } = version;
  const what = envelope === undefined ? 'erased' : changedText(version, before);
  return `${style.yellow(visible(String(number)))} ${visible(storedAt)} ${what}`.trimEnd();
}

function asText(version: Version, before: Version | null, style: Style): string {
  const { subject, snapshot_version: number, envelope_hash: hash, envelope, erased } = version;
  const head = style.yellow(visible(`${subject.subject_type}/${subject.subject_id}@${number}`));
  if (envelope === undefined) {
    const when = erased === undefined ? '' : ` at ${erased.erased_at} (erasure ${erased.erasure_id})`;
    return [head, visible(`Hash:     ${hash ?? 'none'}`), visible(`Erased:   its content was destroyed${when}`)].join(
      '\n',
    );
  }
  const { audit, evidence, generated_at: madeAt } = envelope;
  const changed = changedText(version, before);
  return [
    head,
    visible(`Hash:     ${hash ?? 'none: it was imported without one'}`),
    `By:       ${visible(audit.created_by)} (${visible(audit.source)})`,
    visible(`Made:     ${madeAt}, stored ${version.created_at}`),
    `Evidence: ${evidenceText(evidence)}`,
    ...(changed === '' ? [] : [`Changed:  ${changed}`]),
  ].join('\n');
}

/** Where it says otherwise than the one before; of the first one nothing. */
function changedText({ envelope }: Version, before: Version | null): string {
  if (envelope === undefined || before?.envelope === undefined) return '';
  const paths = changesBetween(before.envelope, envelope)
    .map(({ path }) => path)
    .filter((path) => !isAttribution(path));
  const more = paths.length > SHOWN_PATHS ? ` and ${paths.length - SHOWN_PATHS} more` : '';
  return paths.length === 0 ? 'evidence only' : `${paths.slice(0, SHOWN_PATHS).map(visible).join(', ')}${more}`;
}
