import { OF_SUBJECT, type SubjectAddress } from '../../app/address.ts';
import { apiCall, useGet } from '../../app/api.ts';
import { Loaded, Empty, Notice } from '../../ui/page.tsx';
import { Operations } from './operations.tsx';
import { TEXT } from './words.ts';

interface DifferencesProps {
  subject: SubjectAddress;
  from: number;
  to: number;
}

/** Shows the operations between two versions to a caller that may not read the versions. */
export function Differences({ subject, from, to }: DifferencesProps) {
  const query = { from_version: from, to_version: to, include: '/' };
  const diff = useGet(apiCall('GET', `${OF_SUBJECT}/diff`, { path: subject.ids, query }));
  return (
    <>
      <Notice tone="warn">{TEXT.onlyDifferences}</Notice>
      <Loaded query={diff}>
        {({ ops, partial }) =>
          ops.length === 0 ? (
            <Empty
              title={partial === true ? TEXT.samePart : TEXT.same}
              text={partial === true ? TEXT.samePartText : TEXT.sameText}
            />
          ) : (
            <Operations
              changes={ops.map((operation) => ({ ...operation, movedWith: null }))}
              name={TEXT.opsName(subject.subjectId, from, to)}
            />
          )
        }
      </Loaded>
    </>
  );
}
