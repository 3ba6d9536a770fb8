// @ts-check
'use strict';

const { createHash } = require('node:crypto');
const { imageDimensionsFromData } = require('image-dimensions');
const sax = require('sax');
const { decodeText, encodingFault } = require('../import/decode');

/**
 * What a picture is, by its content. Pure; a hostile file may take long, so it runs in a thread (`inspection`).
 */

/** bytes, side (pixels): of a picture. */
const BOUNDS = Object.freeze({ bytes: 8 * 1024 * 1024, side: 8000 });
/** An SVG of a plan nests some ten deep. */
const DEPTH_MAX = 500;
const ATTRIBUTES_MAX = 1000;
const CHUNK = 64 * 1024;
const KINDS = /** @type {const} */ ({ png: 'png', apng: 'png', jpeg: 'jpg', jpg: 'jpg' });
const PLAIN = 'save it as a plain SVG or as PNG';
/** Pictures and documents that people try, by their first bytes. @type {[at: number, bytes: string, what: string][]} */
const OTHERS = [
  [0, '%PDF-', 'a PDF: a page of a PDF is made a picture by the page Set-up'], [0, 'GIF8', 'a GIF'], [8, 'WEBP', 'a WebP picture'],
  [4, 'ftyphei', 'a HEIC picture, as iPhones take them'], [4, 'ftyphev', 'a HEIC picture'], [4, 'ftypmif', 'a HEIC picture'],
  [4, 'ftypavi', 'an AVIF picture'], [0, 'BM', 'a BMP picture'], [0, 'II*\0', 'a TIFF picture'], [0, 'MM\0*', 'a TIFF picture'],
  [0, '8BPS', 'a Photoshop file'], [0, '%!PS', 'a PostScript or Illustrator file'], [0, '\xc5\xd0\xd3\xc6', 'a PostScript file'],
  [0, 'AC10', 'a drawing of AutoCAD (DWG)'], [0, '\x1f\x8b', 'compressed (SVGZ?): unpack it'], [0, 'PK\x03\x04', 'a ZIP archive or an office document'],
];

/** A picture that is embedded in an SVG is one attribute. */
Object.assign(sax, { MAX_BUFFER_LENGTH: Infinity });

/** The picture is refused; the message says why and what to do. */
class PictureError extends Error {}

/**
 * Type of a picture by its content, whatever its name.
 * @param {Uint8Array} bytes
 * @returns {'png'|'jpg'|'svg'}
 * @throws {PictureError}
 */
function typeOf(bytes) {
  if (bytes.length === 0) throw new PictureError('the picture is empty');
  if (bytes.length > BOUNDS.bytes) {
    throw new PictureError(`the picture has ${mib(bytes.length)} MiB, at most ${mib(BOUNDS.bytes)} are taken: save it smaller`);
  }
  const size = sizeOf(bytes);
  if (size) {
    const { kind, width, height } = size;
    if (width > 0 && height > 0 && Math.max(width, height) <= BOUNDS.side) return kind;
    if (width === 0 || height === 0) {
      throw new PictureError(`the picture has ${width} × ${height} pixels by its header, or is cut off: open it in a program for pictures and save it again`);
    }
    throw new PictureError(`the picture has ${width} × ${height} pixels, at most ${BOUNDS.side} a side are taken: save it smaller`);
  }
  const other = otherOf(bytes);
  if (other) throw new PictureError(`the file is no PNG, JPEG or SVG but ${other}${other.includes(':') ? '' : ': save it as PNG or JPEG'}`);
  checkSvg(textOf(bytes));
  return 'svg';
}

/** @param {number} bytes */
const mib = (bytes) => Math.ceil(bytes / 1024 / 102.4) / 10;

/** @param {Uint8Array} bytes @returns {{kind: 'png'|'jpg', width: number, height: number}|null} null: neither PNG nor JPEG */
function sizeOf(bytes) {
  const isPng = Buffer.from(bytes.subarray(0, 8)).toString('latin1') === '\x89PNG\r\n\x1a\n';
  const isJpeg = bytes[0] === 0xff && bytes[1] === 0xd8;
  if (!isPng && !isJpeg) return null;
  const found = imageDimensionsFromData(bytes);
  const kind = isPng ? 'png' : 'jpg';
  return found && KINDS[/** @type {keyof typeof KINDS} */ (found.type)] === kind ? { kind, width: found.width, height: found.height }
    : { kind, width: 0, height: 0 };
}

/** @param {Uint8Array} bytes @returns {string|null} */
function otherOf(bytes) {
  const head = Buffer.from(bytes.subarray(0, 32)).toString('latin1');
  return OTHERS.find(([at, first]) => head.startsWith(first, at))?.[2] ?? null;
}

/** @param {Uint8Array} bytes @returns {string} @throws {PictureError} */
function textOf(bytes) {
  const text = decodeText(bytes);
  if (text !== null) return text;
  const declared = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.-]{1,40})/i.exec(Buffer.from(bytes.subarray(0, 300)).toString('latin1'))?.[1];
  if (declared && /^(?:iso-8859-1|latin-?1|windows-1252|us-ascii)$/i.test(declared)) return new TextDecoder('windows-1252').decode(bytes);
  const looksLikeSvg = Buffer.from(bytes.subarray(0, 4096)).toString('latin1').includes('<svg');
  throw new PictureError(looksLikeSvg ? `the SVG ${encodingFault(bytes)}` : NOT_A_PICTURE);
}

const NOT_A_PICTURE = 'the file is no PNG, JPEG or SVG; a page of a PDF is made a picture by the page Set-up';
const ENTITY = /<!ENTITY/i;

/**
 * Whether a text is an SVG that a page can show and trust. A browser decides by the same grammar, so it is parsed, not searched.
 * @param {string} text
 * @throws {PictureError}
 */
function checkSvg(text) {
  const parser = sax.parser(true, { position: false, strictEntities: true });
  const prefixes = createPrefixes();
  let [isBegun, depth, attributes] = [false, 0, 0];
  parser.onerror = (error) => {
    throw new PictureError(isBegun && !ENTITY.test(text) ? `the SVG is damaged (${firstLine(error)}): ${PLAIN}` : isBegun ? entityFault(text) : NOT_A_PICTURE);
  };
  parser.ondoctype = (doctype) => { if (ENTITY.test(doctype)) throw new PictureError(entityFault(doctype)); };
  parser.onprocessinginstruction = ({ name }) => {
    if (name.toLowerCase() === 'xml-stylesheet') throw new PictureError(`the SVG loads a style sheet from elsewhere: ${PLAIN}`);
  };
  parser.onopentagstart = () => { attributes = 0; };
  parser.onattribute = ({ name, value }) => {
    attributes += 1;
    prefixes.attribute(name, value);
    if (attributes > ATTRIBUTES_MAX) throw new PictureError(`the SVG has more than ${ATTRIBUTES_MAX} attributes in one tag: ${PLAIN}`);
  };
  parser.onopentag = ({ name }) => {
    const local = name.slice(name.indexOf(':') + 1).toLowerCase();
    if (!isBegun && local !== 'svg') throw new PictureError(`the file is no PNG, JPEG or SVG: it begins with <${name.slice(0, 40)}>`);
    if (isBegun && depth === 0) throw new PictureError(`the SVG is damaged (it has two roots): ${PLAIN}`);
    if (!isBegun && !prefixes.isSvg(name)) throw new PictureError(ENTITY.test(text) ? entityFault(text) : NO_NAMESPACE);
    prefixes.element(name);
    isBegun = true;
    depth += 1;
    if (depth > DEPTH_MAX) throw new PictureError(`the SVG nests more than ${DEPTH_MAX} deep: ${PLAIN}`);
    if (local === 'script') throw new PictureError(`the SVG has a script in it: ${PLAIN}`);
  };
  parser.onclosetag = () => { depth -= 1; };
  for (let at = 0; at < text.length; at += CHUNK) parser.write(text.slice(at, at + CHUNK));
  parser.close();
  if (!isBegun) throw new PictureError(NOT_A_PICTURE);
  if (ENTITY.test(text)) throw new PictureError(entityFault(text));
  if (/^\s+<\?xml\s/.test(text.slice(0, 100))) throw new PictureError('the SVG has blanks before <?xml, so no browser shows it: take them out');
  const unknown = prefixes.unknown();
  if (unknown !== undefined) throw new PictureError(`the SVG uses ${unknown}: without xmlns:${unknown}="…", so no browser shows it: ${PLAIN}`);
}

/** Prefixes of names, whose meaning a document says by `xmlns:…`; wherever it does, which is enough to find a forgotten one. */
function createPrefixes() {
  const said = new Map([['xml', ''], ['xmlns', '']]);
  /** @type {Set<string>} */
  const used = new Set();
  /** @param {string} name */
  const use = (name) => { if (name.includes(':') && used.size < PREFIXES_MAX) used.add(name.slice(0, name.indexOf(':'))); };
  return {
    /** @param {string} name @param {string} value */
    attribute(name, value) {
      if (name === 'xmlns') said.set('', value);
      else if (name.startsWith('xmlns:') && said.size < PREFIXES_MAX) said.set(name.slice('xmlns:'.length), value);
      else use(name);
    },
    element: use,
    /** Whether a root of this name, whose attributes are known, is an SVG's. @param {string} name */
    isSvg: (name) => said.get(name.includes(':') ? name.slice(0, name.indexOf(':')) : '') === SVG_NAMESPACE,
    /** The first that nothing says the meaning of. @returns {string|undefined} */
    unknown: () => [...used].find((prefix) => !said.has(prefix))?.slice(0, 40),
  };
}

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';
const NO_NAMESPACE = `the SVG does not say xmlns="${SVG_NAMESPACE}", so no browser shows it: ${PLAIN}`;
/** Of ten programs that keep their own data in a drawing. */
const PREFIXES_MAX = 100;

/** @param {string} declaration */
const entityFault = (declaration) => (/ns\.adobe\.com|ns_(?:svg|extend|ai|graphs)/i.test(declaration)
  ? 'the SVG defines entities, as Illustrator does where it keeps its own data: save it with "SVG Profile 1.1" and without '
    + '"Preserve Illustrator Editing Capabilities", or as PNG'
  : `the SVG defines entities: ${PLAIN}`);

/** @param {Error} error */
const firstLine = (error) => error.message.split('\n', 1)[0];

/** @param {Uint8Array} bytes @returns {string} the name under which a picture is kept, of its content @throws {PictureError} */
const pictureName = (bytes) => {
  const type = typeOf(bytes);
  return `plan-${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}.${type}`;
};

module.exports = { pictureName, typeOf, PictureError, BOUNDS };
