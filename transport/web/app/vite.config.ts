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
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { '/api': { target: server, ws: true }, '/uploads': server } },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
})
