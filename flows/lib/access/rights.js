// @ts-check
'use strict';

/**
 * What a caller may do: `history` is where people were, and who met them; `presence` who is where now, and to report it;
 * `admin` is keys, audit, rebuild and the building; `forward` is to name the caller of a question that is passed on
 * (`X-On-Behalf-Of`), which opens no route.
 * @typedef {'history'|'presence'|'admin'|'forward'} Right
 */
const RIGHTS = Object.freeze(/** @type {const} */ (['history', 'presence', 'admin', 'forward']));

/**
 * An address names a machine, not who uses it: trust is enough to ask, never to make keys, to read who asked, or to
 * have the past located again.
 */
const TRUSTED_RIGHTS = Object.freeze(/** @type {const} */ (['history', 'presence']));

/** A viewer sees everything that shows people, and changes nothing. */
const VIEWER_RIGHTS = Object.freeze(/** @type {const} */ (['history', 'presence']));

module.exports = { RIGHTS, TRUSTED_RIGHTS, VIEWER_RIGHTS };
