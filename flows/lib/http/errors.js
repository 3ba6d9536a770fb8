// @ts-check
'use strict';

/** A refusal: its status, what and why and, where it helps, when to try again. */
class ApiError extends Error {
  /**
   * @param {number} status @param {string} message @param {number} [retryAfterS]
   * @param {{more?: object, headers?: Record<string, string>}} [beside] the message
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
