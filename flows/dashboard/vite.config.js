import { fileURLToPath } from 'node:url';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

/** @param {string} path from here */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

// The entries have fixed names, by which package.json and monitoring.html know them; what they load is named by its content.
export default defineConfig({
  root: here('.'),
  base: './',
  plugins: [vue()],
  build: {
    target: 'es2022',
    outDir: here('dist'),
    emptyOutDir: true,
    cssCodeSplit: false,
    modulePreload: false,
    chunkSizeWarningLimit: 600, // pdf.js, which is loaded with the first PDF
    rolldownOptions: {
      input: { page: here('src/main.js'), monitoring: here('src/monitoring.js') },
      preserveEntrySignatures: false,
      output: { entryFileNames: '[name].js', chunkFileNames: 'parts/[name]-[hash].js', assetFileNames: '[name][extname]' },
    },
  },
});
