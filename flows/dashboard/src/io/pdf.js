import { getDocument, GlobalWorkerOptions } from 'pdfjs-dist/legacy/build/pdf.min.mjs';
import workerUrl from 'pdfjs-dist/legacy/build/pdf.worker.min.mjs?url';

/**
 * Pages of a PDF, drawn in the browser by pdf.js. It is loaded when the first PDF is chosen, all of it from our own server, and runs no
 * script that a PDF may hold.
 */
GlobalWorkerOptions.workerSrc = workerUrl;

/** Fonts that a PDF may name without holding them, as files beside the worker. */
import.meta.glob('/../node_modules/pdfjs-dist/standard_fonts/*.{pfb,ttf}', { query: '?url', eager: true });

/**
 * @param {ArrayBuffer} data
 * @returns {Promise<{count: number, draw: (number: number, drawn: Function) => Promise<{blob: Blob, width: number, height: number}>}>}
 */
export async function open(data) {
  const base = new URL('.', new URL(workerUrl, location.href)).href;
  const document_ = await getDocument({ data, standardFontDataUrl: base, isEvalSupported: false, useWasm: false }).promise;
  return {
    count: document_.numPages,
    draw: async (number, drawn) => {
      const page = await document_.getPage(number);
      const { width, height } = page.getViewport({ scale: 1 });
      return drawn(width, height, (_context, canvas) => {
        const viewport = page.getViewport({ scale: canvas.width / width });
        return page.render({ canvas, viewport, background: 'white' }).promise;
      });
    },
  };
}
