// @ts-check
'use strict';

/** Something the caller is told, with its status and, where it helps, when to come back. */
class ApiError extends Error {
  /**
   * @param {number} status @param {string} message @param {number} [retryAfterS]
   * @param {{more?: object, headers?: Record<string, string>}} [told] beside the message
   */
  constructor(status, message, retryAfterS, { more = {}, headers = {} } = {}) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.retryAfterS = retryAfterS;
    this.more = more;
    this.headers = headers;
  }
}

/** @param {string} message */
const badRequest = (message) => new ApiError(400, message);

/** @param {string} message @param {number} [retryAfterS] */
const unavailable = (message, retryAfterS = 5) => new ApiError(503, message, retryAfterS);

module.exports = { ApiError, badRequest, unavailable };
