import { rolesFrom, RULES } from '@iss/domain';
import { SqlFiles } from './sql-files';

const files = (text: string, others: Record<string, string> = {}) => new SqlFiles({ 'a.sql': text, ...others });

it('reads statements, and omits comments and the head of a file', () => {
  const text = `-- A file.\n\n-- statement: one\n-- Finds one.\nSELECT 1\n  -- by key\n FROM t\n\n-- statement: two\nSELECT '-- no comment'\n`;
  expect(files(text).statement('one')).toBe('SELECT 1\n FROM t');
  expect(files(text).statement('two')).toBe(`SELECT '-- no comment'`);
});

it('replaces fragments and their parameters', () => {
  const text = `-- fragment: facts
f.role
-- fragment: live(grantee, key)
(g.grantee, g.key) = (@grantee, @key) AND @facts
-- statement: s
SELECT x <@ y, a @> b, @facts FROM g WHERE @live(least('a,b)', i.x), {i.k, @facts}) AND true`;
  expect(files(text).statement('s')).toBe(
    `SELECT x <@ y, a @> b, f.role FROM g WHERE (g.grantee, g.key) = (least('a,b)', i.x), i.k, f.role) AND f.role AND true`,
  );
});

it('does not treat an argument as a parameter of the called fragment', () => {
  const text = `-- fragment: x\nouter
-- fragment: one(x)\n[@x]
-- fragment: two(x)\n@one(@x @x)
-- statement: s\n@two(@x)`;
  expect(files(text).statement('s')).toBe('[outer outer]');
});

it('omits the dot after an empty group', () => {
  const text = `-- fragment: columns(group)\nid AS "@group.id"\n-- statement: s\n@columns(item?), @columns()`;
  expect(files(text).statement('s')).toBe('id AS "item?.id", id AS "id"');
});

it('prefers a fragment of the same file', () => {
  const other = '-- fragment: own\nother\n-- fragment: shared\nshared @own';
  const text = '-- fragment: own\nown\n-- statement: s\n@own @shared';
  expect(files(text, { 'b.sql': other }).statement('s')).toBe('own shared other');
});

it('inserts the roles and scopes of a rule', () => {
  const text = '-- statement: s\nrole IN (@roles(manageGrants)) AND scopes && ARRAY[@scopes(readLatest)]';
  const roles = rolesFrom(RULES.manageGrants.role).map((role) => `'${role}'`);
  expect(files(text).statement('s')).toBe(`role IN (${roles.join(', ')}) AND scopes && ARRAY['read_latest']`);
});

it.each([
  ['@missing', 'refers to @missing, and there are 0 fragments'],
  ['@two', 'refers to @two, and there are 2 fragments'],
  ['@one', 'Arguments are missing: @one'],
  ['@one(a', 'Arguments are missing: @one(a'],
  ['@one(a, b)', '@one takes 1 arguments'],
  ['@roles(nothing)', 'There is no rule nothing'],
])('refuses %s', (text, message) => {
  const others = { 'b.sql': '-- fragment: two\n2', 'c.sql': '-- fragment: two\n2' };
  const all = files(`-- fragment: one(x)\n@x\n-- statement: s\n${text}`, others);
  expect(() => all.statement('s')).toThrow(message);
});

it('refuses an unknown statement and a duplicate name', () => {
  expect(() => files('').statement('s')).toThrow('No file has the statement s');
  expect(() => files('-- statement: s\n1\n-- statement: s\n2')).toThrow('Two statements are named s');
});
