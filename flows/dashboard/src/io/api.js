/** The server refused or could not answer; `message` can be shown. */
export class ApiFault extends Error {
  /** @param {string} message @param {number} status 0: no answer @param {any} [data] JSON of the answer */
  constructor(message, status, data = {}) {
    super(message);
    this.status = status;
    this.data = data;
  }
}

/**
 * Calls the HTTP API below /api/v1 with the login of the browser.
 * @param {string} path without the prefix, `/rooms`
 * @param {Record<string, string|number|undefined>} [query]
 * @param {{method?: string, body?: unknown, signal?: AbortSignal}} [options] body is sent as JSON
 * @returns {Promise<any>}
 * @throws {ApiFault}
 */
export const api = async (path, query = {}, { body, ...options } = {}) => {
  const content = body === undefined ? {} : { content: JSON.stringify(body), type: 'application/json' };
  return (await call(path, query, { ...options, ...content })).data;
};

/**
 * Calls the API page by page: `for await (const page of pages('/stays', { limit: 1000 }))`.
 * @param {string} path
 * @param {Record<string, string|number|undefined>} [query]
 * @param {{signal?: AbortSignal}} [options]
 * @returns {AsyncGenerator<any>}
 * @throws {ApiFault}
 */
export async function* pages(path, query = {}, options = {}) {
  let cursor;
  do {
    const page = await api(path, { ...query, cursor }, options);
    yield page;
    cursor = page.next ?? undefined;
  } while (cursor);
}

/**
 * Calls the API with raw content, ETag and method.
 * @param {string} path
 * @param {Record<string, string|number|undefined>} query
 * @param {{method?: string, content?: BodyInit, type?: string, ifMatch?: string, signal?: AbortSignal}} options content is sent as it is
 * @returns {Promise<{data: any, etag: string|null}>}
 * @throws {ApiFault}
 */
export async function call(path, query, { method = 'GET', content, type, ifMatch, signal }) {
  const url = new URL(`/api/v1${path}`, location.origin);
  for (const [key, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(key, String(value));
  const headers = { ...(type ? { 'Content-Type': type } : {}), ...(ifMatch ? { 'If-Match': ifMatch } : {}) };
  const answer = await fetch(url, { method, headers, signal, body: content }).catch(unlessAborted('the server does not answer'));
  const data = parsed(await answer.text().catch(unlessAborted('the answer of the server broke off')));
  if (!answer.ok) throw new ApiFault(data?.error ?? `the server answered ${answer.status}`, answer.status, data);
  if (data === undefined) throw new ApiFault('the answer of the server is no JSON', answer.status);
  return { data, etag: answer.headers.get('etag') };
}

/** @param {string} message @returns {(error: Error) => never} */
function unlessAborted(message) {
  return (error) => {
    if (error.name === 'AbortError') throw error;
    throw new ApiFault(message, 0);
  };
}

/** @param {string} text @returns {any} undefined: not JSON, such as the page of a proxy */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
