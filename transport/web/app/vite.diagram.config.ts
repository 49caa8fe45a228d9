// The frame in which diagrams are drawn is a document of its own, with nothing of the app:
// no chunk is shared, so that what it may load is told by the folder.
import { defineConfig } from 'vite'

/** What is as large as all the rest, and asked for by few: a diagram that wants it says that it is not here. */
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
