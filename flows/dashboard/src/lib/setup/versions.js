/** Texts for the origin of a version. @type {Record<string, string>} */
export const HOW = {
  start: 'found at the start',
  file: 'changed by hand',
  edit: 'edited',
  import: 'list imported',
  restore: 'back to version',
  calibration: 'calibrated by walking',
};
