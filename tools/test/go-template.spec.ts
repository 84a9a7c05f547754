import { execute, parseTemplate, type Callable, type Value } from '../deploy/go-template.ts';

const functions: Record<string, Callable> = {
  list: (...given) => given,
  upper: (text) => String(text).toUpperCase(),
  eq: (left, right) => left === right,
};
const dot: Value = { name: 'a', none: null, empty: [], items: ['x', 'y'], map: { b: 2, a: 1 }, yes: true, zero: 0 };

function run(source: string): string {
  const definitions = new Map();
  const steps = parseTemplate('t', source, definitions);
  return execute(steps, dot, {
    ...functions,
    include: (name, value = null) => execute(definitions.get(name) ?? [], value, functions),
  });
}

// The expected output comes from text/template of Go 1.19.
it.each([
  ['text of {{ .name }}', 'text of a'],
  ['a {{- " b" -}} c', 'a bc'],
  ['a\n  {{- /* not shown */ -}}\n  b', 'ab'],
  ['a {{/* not shown */}} b', 'a  b'],
  ['{{ "}} \\" {{" }}{{ `raw "` }}', '}} " {{raw "'],
  ['{{ if .yes }}y{{ else }}n{{ end }}{{ if .none }}y{{ else }}n{{ end }}', 'yn'],
  ['{{ if .zero }}1{{ else if .empty }}2{{ else if eq .name "a" }}3{{ else }}4{{ end }}', '3'],
  ['{{ with .map }}{{ .a }}{{ $.name }}{{ end }}{{ with .none }}x{{ else }}{{ .name }}{{ end }}', '1aa'],
  ['{{ range .items }}[{{ . }}]{{ end }}{{ range .empty }}x{{ else }}-{{ end }}', '[x][y]-'],
  ['{{ range $i, $v := .items }}{{ $i }}{{ $v }}{{ end }}', '0x1y'],
  ['{{ range $k, $v := .map }}{{ $k }}{{ $v }}{{ end }}', 'a1b2'],
  ['{{ $x := "1" }}{{ if .yes }}{{ $x = "2" }}{{ $y := "3" }}{{ $y }}{{ end }}{{ $x }}', '32'],
  ['{{ $x := "1" }}{{ range .items }}{{ $x := . }}{{ $x }}{{ end }}{{ $x }}', 'xy1'],
  ['{{ .name | upper | list | len0 }}', /function "len0" is not one of those/],
  ['{{ (list "p" .name) | upper }}', 'P,A'],
  ['{{ and .yes .name }}{{ or .none .name }}{{ and .none .nothing.more }}', 'aa'],
  ['{{ define "d" }}<{{ . }}>{{ end }}{{ include "d" .name | upper }}', '<A>'],
  ['{{ .none.more }}', /nil pointer evaluating interface \{\}\.more/],
  ['{{ .name.more }}', /can't evaluate field more/],
  ['{{ .name "x" }}', /can't give argument to non-function a/],
  ['{{ $x }}', /undefined variable \$x/],
  ['{{ if .yes }}', /t:1: \{\{ if \.yes \}\} does not end/],
  ['{{ end }}', /has nothing to end/],
  ['a {{ .name', /an action does not end/],
  ['{{ template "d" }}', /is not understood here/],
  ['{{ (list 1 }}', /lacks a \)/],
  ['{{ .name | }}', /lacks a value/],
])('executes like Go or is refused: %j', (source, written) => {
  if (typeof written === 'string') expect(run(source)).toBe(written);
  else expect(() => run(source)).toThrow(written);
});

it('refuses to print a number that Go would print as a float', () => {
  const steps = parseTemplate('t', '{{ . }}', new Map());
  expect(execute(steps, 999_999, {})).toBe('999999');
  expect(() => execute(steps, 1_000_000, {})).toThrow('1000000 would be printed as a float64');
});
