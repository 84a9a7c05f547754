/**
 * Visits the addresses of the development issuer like a browser, as `user`: follows redirects, keeps cookies, and sends
 * forms.
 */
export async function signInAs(user: string, address: string): Promise<string> {
  const cookies = new Map<string, string>();
  let [url, body]: [URL, URLSearchParams | null] = [new URL(address), null];
  for (let step = 0; step < 20; step++) {
    const response: Response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(body === null ? {} : { method: 'POST', body }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const page = await response.text();
    const next = response.headers.get('location');
    if (next !== null) {
      [url, body] = [new URL(next, url), null];
      continue;
    }
    if (page.includes('name="user"')) body = new URLSearchParams({ user });
    else if (page.includes('<form')) [url, body] = [new URL(actionOf(page) ?? '', url), hiddenOf(page)];
    else return page;
  }
  throw new Error(`The sign-in at ${address} leads nowhere.`);
}

function actionOf(page: string): string | undefined {
  return /action="([^"]+)"/.exec(page)?.[1];
}

function hiddenOf(page: string): URLSearchParams {
  const fields = [...page.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  return new URLSearchParams(fields.map(([, name = '', value = '']) => [name, value]));
}
