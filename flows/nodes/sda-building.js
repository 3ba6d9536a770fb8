'use strict';

const path = require('node:path');
const { createReloader } = require('../lib/building/reload');
const { createEditor } = require('../lib/building/editor');
const { createPictures } = require('../lib/building/pictures');
const { writeRegistry } = require('../lib/building/registry');
const { createRoomNames } = require('../lib/building/room-names');
const { createTextReader } = require('../lib/building/source');

const CHECK_MS = 2000; // a changed building file is in use after this time, a bad one refused after twice this time

module.exports = function register(RED) {
  /** Applies changes of the building file to the site, keeps its versions, and writes changes from the API. */
  function SdaBuilding(definition) {
    RED.nodes.createNode(this, definition);
    const { config, building } = RED.settings.sda;
    const { site } = RED.nodes.getNode(definition.site);
    const logger = { log: (text) => this.log(text), warn: (text) => this.warn(text) };
    const names = createRoomNames(path.join(config.userDir, 'rooms.json'), logger.warn);

    const written = writeRegistry(building, config.registryDir);
    names.update(building, Date.now());
    this.log(`${building.name}: ${building.rooms.size} rooms, ${building.beacons.size} beacons, ` +
      `${building.gateways.size} gateways, ${building.staff.size} staff` +
      (written.length > 0 ? `; wrote ${written.join(' and ')} for ingest` : ''));

    this.editor = createEditor({
      file: config.buildingFile, folder: path.join(config.userDir, 'building-versions'), first: building, clock: Date.now, logger,
    });
    this.pictures = createPictures({ folder: path.dirname(config.buildingFile), referenced: this.editor.pictures, clock: Date.now });
    this.reloader = createReloader({
      source: config.buildingFile,
      read: createTextReader(config.buildingFile),
      current: () => site.building(),
      before: () => [site.building().file, this.editor.good()],
      refuse: (faults) => site.setBuildingFaults(faults),
      apply: async (next) => {
        const prepared = await site.prepare(next); // may take seconds; locating goes on meanwhile
        writeRegistry(next, config.registryDir);
        names.update(next, Date.now());
        site.setBuilding(next, Date.now(), prepared);
        this.editor.recordApplied();
      },
      logger,
    });
    const timer = setInterval(() => this.reloader.check().catch((error) => this.error(`the building file cannot be checked: ${error.message}`)), CHECK_MS);
    this.on('close', () => clearInterval(timer));
  }

  RED.nodes.registerType('sda-building', SdaBuilding);
};
