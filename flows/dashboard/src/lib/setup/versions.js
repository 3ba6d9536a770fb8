/** How a version of the building came to be. @type {Record<string, string>} */
export const HOW = {
  start: 'found at the start',
  file: 'changed by hand',
  edit: 'edited',
  import: 'list imported',
  restore: 'back to version',
  calibration: 'calibrated by walking',
};
