// @ts-check
'use strict';

/**
 * Who may ask, as one entry: what a request passes, in the order of docs/access.md. Nothing outside this folder loads its files
 * one by one, but for the command `make key`, which needs the keys alone.
 */
module.exports = {
  /** 1. Host names that are answered. */
  createHosts: require('./hosts').createHosts,
  /** 5. From which address a request comes, and 6. whether that address needs no key. */
  ...require('./clients'),
  ...require('./trust'),
  /** 6. Keys, and the login of people. */
  ...require('./keys'),
  ...require('./secrets'),
  createSessions: require('./sessions').createSessions,
  createAttempts: require('./attempts').createAttempts,
  createLogin: require('./login').createLogin,
  /** 8. Rights, and the guard that each route begins with. */
  ...require('./rights'),
  ...require('./guard'),
  ON_BEHALF_OF: require('./forwarded').ON_BEHALF_OF,
  /** 11. Who looked up whose history: reading it back. */
  readAudit: require('./audit/read').readAudit,
  sizeOfSubjects: require('./audit/subjects').size,
  /** 4., 6., 7. and 11. together, with their parts of /health and their figures. */
  createGuards: require('./guards').createGuards,
};
