// The frame in which diagrams are drawn is a separate document. It shares no chunk with the app, so
// that the frame needs access only to the files in its own folder.
import { defineConfig } from 'vite'

/**
 * Parts that few diagrams need, and that are as large as all other parts together. A diagram that
 * uses one reports that the part is missing.
 */
const leftOut = /^(?:elkjs\/lib\/elk\.bundled\.js|katex)$/

export default defineConfig({
  plugins: [
    {
      name: 'left-out',
      enforce: 'pre',
      resolveId: (wanted) => (leftOut.test(wanted) ? '\0left-out' : null),
      load: (wanted) => (wanted === '\0left-out' ? 'export default class { constructor() { throw new Error("this layout is not available") } }' : null),
    },
  ],
  base: './',
  publicDir: false,
  build: {
    outDir: '../built',
    emptyOutDir: false, // the folder already contains the app
    assetsDir: 'assets/diagram',
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: { input: 'diagram.html' },
  },
})
