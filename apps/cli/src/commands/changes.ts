import { type Change, momentOfChange } from '@identity-state/client';
import { type Command, hasFlag, numberOf, textOf } from '../command';
import { JSON_OPTION, MAX_LIMIT, type Style, styleOf } from '../output';
import { asCaller, CALLER_OPTIONS } from '../service/caller';
import { CHANGE_TYPES, changeText, changeTypeOf } from '../service/change-text';
import { subjectOf } from '../service/subject-name';
import { untilEnded } from '../service/until-ended';
import { visible } from '../visible';

const TYPE_WIDTH = Math.max(...CHANGE_TYPES.map((type) => type.length));

const INCOMPLETE =
  'Not everything yet: a tenant granted all of its subjects lately, and older entries are still being added. Run it again later.';

/** Shows the change feed. */
export const changes: Command = {
  about:
    'Of all that your tenant owns or may read, in the order of the log (docs/feed.md); each line begins with its place there. With ' +
    '--follow it goes on with what comes, over breaks of the connection and expired tokens, with nothing missed and nothing twice, ' +
    'until Ctrl-C.',
  options: {
    after: {
      value: 'N',
      about: 'Behind this place: the last one that you saw. From the beginning, where it is left out.',
    },
    follow: { about: 'Goes on with what comes.' },
    subject: { value: 'SUBJECT', about: 'What is about one subject alone: TYPE/ID, or the id of an organization.' },
    since: { value: 'T', about: 'What happened then or later: a time, or a UTC date as 2026-01-31.' },
    type: { value: 'TYPE', about: `One of ${CHANGE_TYPES.join(', ')}.`, choices: CHANGE_TYPES },
    limit: { value: 'N', about: 'The most changes to show: all of them, unless said otherwise.' },
    ...JSON_OPTION,
    ...CALLER_OPTIONS,
  },
  async run(options, context) {
    const after = numberOf(options, 'after', [0, Number.MAX_SAFE_INTEGER]);
    const most = numberOf(options, 'limit', [1, MAX_LIMIT]) ?? Infinity;
    const named = textOf(options, 'type');
    const type = named === undefined ? undefined : changeTypeOf(named);
    const about = textOf(options, 'subject');
    const { type: subjectType, id: subjectId } = about === undefined ? {} : subjectOf(about);
    const from = textOf(options, 'since');
    const follow = hasFlag(options, 'follow');
    const style = styleOf(context.screen);
    const show = hasFlag(options, 'json')
      ? (change: Change) => JSON.stringify(change)
      : (change: Change) => lineOf(change, style);
    const { signal } = context;
    await untilEnded(signal, () =>
      asCaller(options, context, async ({ tenant }) => {
        let count = 0;
        let isTold = false;
        const onIncomplete = (): void => {
          if (!isTold) context.complain(INCOMPLETE);
          isTold = true;
        };
        for await (const change of tenant.changes({
          after,
          follow,
          type,
          subjectType,
          subjectId,
          from,
          onIncomplete,
          signal,
        })) {
          context.print(show(change));
          if (++count >= most) break;
        }
        if (count === 0)
          context.complain(after === undefined ? 'Nothing happened yet.' : `Nothing happened behind ${after}.`);
      }),
    );
  },
};

function lineOf(change: Change, style: Style): string {
  const { log_index: place, type } = change;
  return `${style.yellow(visible(String(place)).padStart(6))}  ${visible(String(momentOfChange(change)))}  ${visible(type).padEnd(TYPE_WIDTH)}  ${changeText(change)}`;
}
