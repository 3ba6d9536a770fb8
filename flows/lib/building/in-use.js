// @ts-check
'use strict';

const path = require('node:path');
const { createEditor } = require('./editor');
const { createPictures } = require('./pictures');
const { writeRegistry } = require('./registry');
const { createReloader } = require('./reload');
const { createRoomNames } = require('./room-names');
const { createTextReader } = require('./source');

/**
 * The building file of an installation: it is applied to the site when it changes, its versions are kept, the API writes it, and ingest
 * gets its registry.
 * @param {object} deps
 * @param {import('../site').Site} deps.site
 * @param {Pick<import('../config').Config, 'buildingFile'|'registryDir'|'userDir'>} deps.config
 * @param {() => number} deps.clock
 * @param {{log: (text: string) => void, warn: (text: string) => void}} deps.logger
 */
function openBuilding({ site, config, clock, logger }) {
  const building = site.building();
  const names = createRoomNames(path.join(config.userDir, 'rooms.json'), logger.warn);
  const written = writeRegistry(building, config.registryDir);
  names.update(building, clock());
  logger.log(`${building.name}: ${building.rooms.size} rooms, ${building.beacons.size} beacons, ` +
    `${building.gateways.size} gateways, ${building.staff.size} staff` +
    (written.length > 0 ? `; wrote ${written.join(' and ')} for ingest` : ''));

  const editor = createEditor({ file: config.buildingFile, folder: path.join(config.userDir, 'building-versions'), first: building, clock, logger });
  const pictures = createPictures({ folder: path.dirname(config.buildingFile), referenced: editor.pictures, clock });
  const reloader = createReloader({
    source: config.buildingFile,
    read: createTextReader(config.buildingFile),
    current: site.building,
    before: () => [site.building().file, editor.good()],
    refuse: (faults) => site.bus.emit('buildingRefused', faults),
    apply: async (next) => {
      const prepared = await site.live.prepare(next); // may take seconds; locating goes on meanwhile
      writeRegistry(next, config.registryDir);
      names.update(next, clock());
      site.setBuilding(next, clock(), prepared);
      editor.recordApplied();
    },
    logger,
  });
  return { editor, pictures, reloader };
}

module.exports = { openBuilding };
