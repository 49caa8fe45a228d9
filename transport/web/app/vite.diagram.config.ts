// The frame in which diagrams are drawn is a document of its own. It shares no chunk with
// the app, so that its folder alone lists the files that it can load.
import { defineConfig } from 'vite'

/** Parts as large as all others together that few need. A diagram that uses one reports that it is missing. */
const leftOut = /^(?:elkjs\/lib\/elk\.bundled\.js|katex)$/

export default defineConfig({
  plugins: [
    {
      name: 'left-out',
      enforce: 'pre',
      resolveId: (wanted) => (leftOut.test(wanted) ? '\0left-out' : null),
      load: (wanted) => (wanted === '\0left-out' ? 'export default class { constructor() { throw new Error("this layout is not here") } }' : null),
    },
  ],
  base: './',
  publicDir: false,
  build: {
    outDir: '../built',
    emptyOutDir: false, // the app is there
    assetsDir: 'assets/diagram',
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: { input: 'diagram.html' },
  },
})
