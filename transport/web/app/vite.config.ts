import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

// The server runs beside it while one works on the app (npm run dev).
const server = process.env.ATELIER ?? 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: '../built',
    emptyOutDir: true,
    target: 'es2022',
    // The policy allows no data: script and no inline one.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // One style sheet: its rules are scoped, and each screen's own would be a
    // request of its own.
    cssCodeSplit: false,
    rolldownOptions: {
      input: { index: 'index.html', sw: 'src/call/sw.ts' },
      output: {
        // A service worker keeps its name, and covers what is beside it.
        entryFileNames: (chunk) => (chunk.name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'),
        advancedChunks: {
          groups: [
            // What every screen needs, in one piece.
            {
              name: 'base',
              test: /node_modules\/(svelte|esm-env|clsx|sv-router|openapi-fetch|@lucide)\/|src\/(api|device|parts|routes|live\/outbox)|src\/messages\/locale|compiled\/plural/,
              minShareCount: 2,
            },
            { name: 'words', test: /compiled\/messages\//, minShareCount: 2 },
            { name: 'markdown', test: /node_modules\/(marked|dompurify)\/|src\/markdown\/(?!highlight)/, minShareCount: 2 },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { '/api': { target: server, ws: true }, '/uploads': server } },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
})
