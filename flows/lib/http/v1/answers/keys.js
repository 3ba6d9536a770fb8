// @ts-check
'use strict';

const { KeyError, KeyFileError, NameTaken, parseExpiry } = require('../../../access');
const { ApiError, badRequest } = require('../../../shared/api-error');

/**
 * `/api/v1/keys`: the named keys, for admins. A key itself is in one answer alone, that which makes it.
 * @typedef {import('../../../access/key-ring').KeyRecord} KeyRecord
 * @typedef {{keys: import('../../../access/keys').Keys, clock: () => number,
 *   audit: Pick<import('../../../access/audit').Audit, 'adminAction'>}} Context
 */

/** What is answered of a key: not even its fingerprint. @param {KeyRecord} record @param {number} nowMs */
const described = ({ id, name, rights, created_ms: created, expires_ms: expires, rate_per_s: rate }, nowMs) => ({
  id, name, rights, created_ms: created, expires_ms: expires, expired: expires !== null && expires <= nowMs, rate_per_s: rate ?? null,
});

/** @param {Pick<Context, 'keys'|'clock'>} context */
const listKeys = ({ keys, clock }) => ({ keys: keys.records().map((record) => described(record, clock())) });

/**
 * @param {Pick<Context, 'keys'|'clock'>} context
 * @param {Record<string, any>} params checked: name, rights (a list, or with commas), expires (`90d`, RFC 3339, never), rate_per_s
 */
async function createKey({ keys, clock }, { name, rights, expires, rate_per_s: rate }) {
  let expiresMs;
  try {
    expiresMs = parseExpiry(expires, clock());
  } catch (error) {
    throw badRequest(`expires: ${/** @type {Error} */ (error).message}`);
  }
  const ratePerS = rate ?? undefined;
  const listed = typeof rights === 'string' ? rights.split(',').map((right) => right.trim()) : rights;
  const { record, key } = await granted(keys.add({ name, rights: listed, expiresMs, ratePerS }));
  return { ...described(record, clock()), key };
}

/** @param {Pick<Context, 'keys'|'clock'>} context @param {string} id */
async function revokeKey({ keys, clock }, id) {
  const record = await granted(keys.revoke(id));
  if (!record) throw new ApiError(404, `there is no key ${id}`);
  return described(record, clock());
}

/** @template T @param {Promise<T>} work @returns {Promise<T>} */
const granted = (work) => work.catch((error) => {
  if (error instanceof KeyFileError) throw new ApiError(503, `keys cannot be changed: their file ${error.message}`, 60);
  if (error instanceof NameTaken) throw new ApiError(409, error.message);
  throw error instanceof KeyError ? badRequest(error.message) : error;
});

/** @param {Context} context @returns {Record<string, import('.').Answer>} */
const createKeyAnswers = (context) => ({
  listKeys: () => listKeys(context),
  async createKey({ body = {}, caller }) {
    const made = await createKey(context, body);
    await context.audit.adminAction('key_added', caller, `${made.name} (${made.id}): ${made.rights.join(', ')}`);
    return made;
  },
  async revokeKey({ params, caller }) {
    const gone = await revokeKey(context, params.id);
    await context.audit.adminAction('key_revoked', caller, `${gone.name} (${gone.id})`);
    return gone;
  },
});

module.exports = { listKeys, createKey, revokeKey, createKeyAnswers };
