import type { Version } from '@identity-state/client';
import { defineCommand } from '../../define';
import { DEFAULT_LIMIT, LIST_OPTIONS, type Style, styleOf } from '../../output';
import { asCaller, CALLER_OPTIONS, POLICY_OPTION } from '../../service/caller';
import { contentChanges } from '../../service/changes';
import { kindText } from '../../service/change-text';
import { evidenceText, isAttribution } from '../../service/evidence';
import { SUBJECT_ARGUMENT } from '../../service/subject-name';
import { visible } from '../../visible';

/** The most changed paths per version. */
const SHOWN_PATHS = 6;

export const log = defineCommand({
  about:
    'It shows who wrote each version, when, from what evidence, and what changed. iss verifies each version and its link to the previous one, and computes the changes locally. It shows no changes for the oldest listed version.',
  arguments: { subject: SUBJECT_ARGUMENT },
  options: {
    oneline: { about: 'One line per version.' },
    ...LIST_OPTIONS,
    ...POLICY_OPTION,
    ...CALLER_OPTIONS,
  },
  async run({ subject: { type, id }, limit: most = DEFAULT_LIMIT, oneline, json }, context, options) {
    const { print } = context;
    const style = styleOf(context.screen);
    const show = (version: Version, before: Version | null, isLast: boolean): void => {
      if (json) print(JSON.stringify(version));
      else if (oneline) print(asLine(version, before, style));
      else print(`${asText(version, before, style)}${isLast ? '' : '\n'}`);
    };
    await asCaller(options, context, async ({ tenant }) => {
      let count = 0;
      let previous: Version | null = null;
      for await (const version of tenant.subject(type, id).history()) {
        if (previous !== null) show(previous, version, false);
        previous = version;
        if (++count > most) break;
      }
      if (count > most) context.complain(`The list continues after ${most}. Use --limit N to show more.`);
      else if (previous !== null) show(previous, null, true);
    });
  },
});

function asLine(version: Version, before: Version | null, style: Style): string {
  const { snapshot_version: number, change_kind: kind, envelope, created_at: storedAt } = version;
  const what = envelope === undefined ? 'erased' : changedText(version, before);
  return `${style.yellow(visible(String(number)))} ${visible(storedAt)} ${what}${kindText(kind)}`.trimEnd();
}

function asText(version: Version, before: Version | null, style: Style): string {
  const { subject, snapshot_version: number, envelope_hash: hash, envelope, erased } = version;
  const head = style.yellow(visible(`${subject.subject_type}/${subject.subject_id}@${number}`));
  if (envelope === undefined) {
    const when = erased === undefined ? '' : ` at ${erased.erased_at} (erasure ${erased.erasure_id})`;
    return [head, visible(`Hash:     ${hash ?? 'none'}`), visible(`Erased:   the content was destroyed${when}`)].join(
      '\n',
    );
  }
  const { audit, evidence, generated_at: madeAt } = envelope;
  const changed = changedText(version, before);
  return [
    head,
    visible(`Hash:     ${hash ?? 'none (imported without a hash)'}`),
    `By:       ${visible(audit.created_by)} (${visible(audit.source)})`,
    visible(`Made:     ${madeAt}, stored ${version.created_at}`),
    `Evidence: ${evidenceText(evidence)}`,
    ...(changed === '' ? [] : [`Changed:  ${changed}${kindText(version.change_kind)}`]),
  ].join('\n');
}

/** Lists the paths that changed since the previous version; empty if either content is unknown. */
function changedText({ envelope }: Version, before: Version | null): string {
  if (envelope === undefined || before?.envelope === undefined) return '';
  const paths = contentChanges(before.envelope, envelope)
    .map(({ path }) => path)
    .filter((path) => !isAttribution(path));
  const more = paths.length > SHOWN_PATHS ? ` and ${paths.length - SHOWN_PATHS} more` : '';
  return paths.length === 0 ? 'evidence only' : `${paths.slice(0, SHOWN_PATHS).map(visible).join(', ')}${more}`;
}
