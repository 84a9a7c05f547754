import { TEXT } from '../../text/ui.ts';
import { Copy } from './copy.tsx';

/** A request to the API. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | null | undefined>>;
  readonly body?: unknown;
}

/** Returns a call as a curl command for a shell with `$TOKEN`. */
export function curlOf({ method, path, query, body }: Call): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== null && value !== undefined) parameters.set(name, String(value));
  }
  const search = parameters.size === 0 ? '' : `?${parameters}`;
  return [
    `curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${quoted(location.origin + path + search)}`,
    `-H "Authorization: Bearer $TOKEN"`,
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ].join(' \\\n  ');
}

/** Quotes a text for POSIX shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function CopyCurl({ call }: { call: Call }) {
  return <Copy text={curlOf(call)} label={TEXT.copyCurl} />;
}
