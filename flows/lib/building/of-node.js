// @ts-check
'use strict';

const { BuildingError, loadBuilding, parseBuilding } = require('./index');

/**
 * The building that stands in a node of the editor.
 * @param {unknown} value the path of a building file, or its content
 * @returns {import('./index').Building}
 * @throws {BuildingError}
 */
function buildingOfNode(value) {
  const text = typeof value === 'string' ? value.trim() : '';
  if (text === '') throw new BuildingError('the site', ['/ there is no building: give the path of a building file, or its content']);
  return text.startsWith('{') ? parseBuilding(text, 'the building of the site') : loadBuilding(text);
}

module.exports = { buildingOfNode };
