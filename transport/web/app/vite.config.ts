import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

/** What the page of an attendee loads before anything is pressed. */
const firstLoad = ['src/main.ts', 'src/screens/reader/Codelab.svelte', 'src/talk/Talk.svelte', 'src/markdown/highlight.ts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
)

interface Graph {
  getModuleInfo(id: string): { importedIds: readonly string[] } | null
}

/** The modules of the reader's first load, and the texts that they show. */
function reach(graph: Graph): { modules: Set<string>; texts: Set<string> } {
  const modules = new Set<string>()
  const texts = new Set<string>()
  const look = (id: string) => {
    // The index of all texts imports each; only those that are named are kept.
    if (modules.has(id) || id.includes('/messages/compiled/')) return
    modules.add(id)
    if (/src\/[^?]*\.(ts|svelte)$/.test(id)) for (const [, key] of readFileSync(id, 'utf8').matchAll(/\bm\.(\w+)/g)) texts.add(key!)
    graph.getModuleInfo(id)?.importedIds.forEach(look)
  }
  firstLoad.forEach(look)
  return { modules, texts }
}

const shared =
  /node_modules\/(svelte|esm-env|clsx|sv-router|openapi-fetch|@lucide)\/|src\/(api|device|parts|routes|live\/outbox)|src\/messages\/locale|src\/talk\/[Ss]aid|compiled\/plural/
const text = /compiled\/messages\/(\w+)\.js$/

/** Names a chunk of the modules that the reader's first load needs, or of those that it does not. */
function ofReader(name: string, needed: boolean) {
  let reached: ReturnType<typeof reach> | undefined
  return (id: string, graph: Graph) => {
    const { modules, texts } = (reached ??= reach(graph))
    const is = modules.has(id) || id.endsWith('compiled/plural.js') || texts.has(text.exec(id)?.[1] ?? '')
    return is === needed ? name : null
  }
}

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
            // What every screen needs, in one piece; what the reader does not need at first
            // is in another one.
            // The main file and drafts share it.
            { name: 'store', test: /node_modules\/idb-keyval\// },
            { name: ofReader('base', true), test: shared, minShareCount: 2 },
            { name: ofReader('words', true), test: text, minShareCount: 2 },
            // The connection and what is true, which readers and facilitators have alike.
            { name: ofReader('room', true), test: /src\/(call|live|timer|workshop)\//, minShareCount: 2 },
            { name: ofReader('more', false), test: shared, minShareCount: 2 },
            { name: ofReader('more-words', false), test: text, minShareCount: 2 },
            { name: 'markdown', test: /node_modules\/(marked|dompurify)\/|src\/markdown\/(?!highlight|notes|blocks)/, minShareCount: 2 },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { '/api': { target: server, ws: true }, '/uploads': server } },
  test: { include: ['src/**/*.test.ts'], environment: 'node' },
})
