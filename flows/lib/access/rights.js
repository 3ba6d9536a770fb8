// @ts-check
'use strict';

/**
 * What a caller may do: `history` is where people were, and who met them; `presence` who is where now, and to report it;
 * `admin` is keys, audit, rebuild and the building.
 * @typedef {'history'|'presence'|'admin'} Right
 */
const RIGHTS = Object.freeze(/** @type {const} */ (['history', 'presence', 'admin']));

/**
 * An address names a machine, not who uses it: trust is enough to ask, never to make keys, to read who asked, or to
 * have the past located again.
 */
const TRUSTED_RIGHTS = Object.freeze(/** @type {const} */ (['history', 'presence']));

/** A viewer sees everything that shows people, and changes nothing. */
const VIEWER_RIGHTS = Object.freeze(/** @type {const} */ (['history', 'presence']));

module.exports = { RIGHTS, TRUSTED_RIGHTS, VIEWER_RIGHTS };
