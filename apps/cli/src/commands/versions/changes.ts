import { wholeNumber } from '../../command';
import { type Change, momentOfChange } from '@identity-state/client';
import { defineCommand } from '../../define';
import { JSON_OPTION, MAX_LIMIT, type Style, styleOf } from '../../output';
import { asCaller, CALLER_OPTIONS } from '../../service/caller';
import { CHANGE_TYPES, changeText } from '../../service/change-text';
import { subjectOf } from '../../service/subject-name';
import { untilEnded } from '../../service/until-ended';
import { visible } from '../../visible';

const TYPE_WIDTH = Math.max(...CHANGE_TYPES.map((type) => type.length));

const INCOMPLETE =
  'The result is incomplete: a tenant granted all of its subjects recently, and older entries are still being added. Try again later.';

export const changes = defineCommand({
  about:
    'It covers all subjects that your tenant owns or may read, in log order. Each line starts with the log index. With --follow, it reconnects and refreshes tokens until Ctrl-C, and neither skips nor repeats a change.',
  options: {
    after: {
      value: 'N',
      about: 'Last log index that you saw (default: start from the first change).',
      read: wholeNumber(0, Number.MAX_SAFE_INTEGER),
    },
    follow: { about: 'Wait for new changes.' },
    subject: { value: 'SUBJECT', about: 'Only this subject.', read: subjectOf },
    since: { value: 'TIME', about: 'Only changes since then.' },
    path: {
      value: 'POINTER',
      about: 'JSON Pointer below /attributes: of new versions, only those that changed something there.',
      isRepeated: true,
    },
    type: { value: 'TYPE', about: `${CHANGE_TYPES.join(', ')}.`, choices: CHANGE_TYPES },
    limit: { value: 'N', about: 'Maximum number of changes (default: all).', read: wholeNumber(1, MAX_LIMIT) },
    ...JSON_OPTION,
    ...CALLER_OPTIONS,
  },
  async run({ after, follow, subject, since: from, path, type, limit: most = Infinity, json }, context, options) {
    const { type: subjectType, id: subjectId } = subject ?? {};
    const style = styleOf(context.screen);
    const show = json ? (change: Change) => JSON.stringify(change) : (change: Change) => lineOf(change, style);
    const { signal } = context;
    await untilEnded(signal, () =>
      asCaller(options, context, async ({ tenant }) => {
        let count = 0;
        let isReported = false;
        const onIncomplete = (): void => {
          if (!isReported) context.complain(INCOMPLETE);
          isReported = true;
        };
        for await (const change of tenant.changes({
          after,
          follow,
          type,
          subjectType,
          subjectId,
          from,
          paths: path.length === 0 ? undefined : path,
          onIncomplete,
          signal,
        })) {
          context.print(show(change));
          if (++count >= most) break;
        }
        if (count === 0)
          context.complain(after === undefined ? 'There are no changes.' : `There are no changes after ${after}.`);
      }),
    );
  },
});

function lineOf(change: Change, style: Style): string {
  const { log_index: place, type } = change;
  return `${style.yellow(visible(String(place)).padStart(6))}  ${visible(String(momentOfChange(change)))}  ${visible(type).padEnd(TYPE_WIDTH)}  ${changeText(change)}`;
}
