import { getDocument, GlobalWorkerOptions } from 'pdfjs-dist/legacy/build/pdf.min.mjs';
import workerUrl from 'pdfjs-dist/legacy/build/pdf.worker.min.mjs?url';

/**
 * Draws pages of a PDF with pdf.js. It is loaded from our own server when the first PDF is chosen, and runs no scripts of a PDF.
 */
GlobalWorkerOptions.workerSrc = workerUrl;

/** Standard fonts, which a PDF need not embed, as files beside the worker. */
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
