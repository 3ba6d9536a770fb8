// @ts-check
'use strict';

const { answers, count, createDescription, list, ms, object, orNull, text, yes } = require('./core');
const { OVERVIEW, RIGHT } = require('./login');

/** What the entry answers, as OpenAPI: those of a site's operations that have an answer here, and the overview. */

/** Of a site's HACS-era routes. */
const HACS = new Set(['extractBeacon', 'newBeaconDetect', 'retrieveForMonitoring']);
/** Schemas of what lies at one site. */
const AT_A_SITE = ['Presence', 'Location', 'Stay', 'StayOf', 'Meeting', 'Event', 'Room', 'RoomDetail', 'Visits', 'HacsRecord', 'HacsLatest'];
/** Operations that may be about one site. */
const OF_ONE_SITE = new Set(['searchStays', 'listEvents', 'listRooms', 'getRoom', 'listVisits']);
/** A cursor of the entry may hold one of a site, characters. */
const CURSOR_CHARS = 2048;

const LIST_SITES = {
  operationId: 'listSites', tags: ['System'], 'x-right': RIGHT, summary: 'How each site is, in numbers',
  description: 'The only answer that has what is known where a site is away: what it said last stays, with its time.',
  responses: answers('The sites, in the order of campus.toml.', 'SiteList'),
};
const SITE = object({
  site: { ...text, description: 'Name of the site in campus.toml.' }, building: { ...orNull(text), description: 'Name of its building.' },
  simulated: { ...yes, description: 'People there are played by a simulator.' },
  status: { type: 'string', enum: ['up', 'degraded', 'away'] }, reason: orNull(text), since_ms: { ...ms, description: 'Since when it has this status.' },
  people: orNull(object({ present: count, stale: count })),
  gateways: { ...orNull(object({ online: count, offline: count, silent: count, unknown: count })), description: 'Those of its building file.' },
  alerts: { ...orNull(object({ open: count, critical: count })), description: 'That nobody has acknowledged.' },
  complete_until_ms: { ...orNull(ms), description: 'Up to here nothing of the last seven days is missing.' },
  as_of_ms: { ...orNull(ms), description: 'When people, gateways and alerts were read.' },
  dashboard: { ...text, description: 'Address of its dashboard, for browsers.' },
});

/**
 * @param {string} version @param {{answered: object, names: string[]}} campus answered: by operation; names of the sites
 * @returns {any}
 */
function describe(version, { answered, names }) {
  /** @type {any} */
  const whole = structuredClone(createDescription(version));
  whole.info.title = 'SDA Locator, campus';
  const isOurs = (/** @type {any} */ { operationId: id }) => id in answered || HACS.has(id.replace(/ByPost$/, ''));
  const paths = Object.entries(whole.paths).filter(([, item]) => Object.values(item).every(isOurs));
  whole.paths = { ...Object.fromEntries(paths), [OVERVIEW]: { get: LIST_SITES } };
  const { schemas, parameters } = whole.components;
  for (const name of AT_A_SITE) {
    schemas[name].properties.site = { type: 'string', description: 'Name of the site in campus.toml.' };
    schemas[name].required = [...schemas[name].required, 'site'];
  }
  schemas.SiteList = object({ now_ms: ms, sites: list({ $ref: '#/components/schemas/Site' }) });
  schemas.Site = SITE;
  parameters.cursor.schema.maxLength = CURSOR_CHARS;
  const site = { name: 'site', in: 'query', description: 'Only this site, as it answers by itself.', schema: { type: 'string', enum: names } };
  for (const operation of Object.values(whole.paths).flatMap((item) => Object.values(item))) {
    if (OF_ONE_SITE.has(operation.operationId)) operation.parameters = [...operation.parameters, site];
  }
  return whole;
}

module.exports = { describe };
