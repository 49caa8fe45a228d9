import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { gemoji } from 'gemoji'
import { defineConfig } from 'vitest/config'
import type { Plugin } from 'vite'
import { handbook } from './scripts/handbook.mjs'
import { firstLoad } from './scripts/messages.mjs'
import type { Built } from './src/offline/shell'

interface Graph {
  getModuleInfo(id: string): { importedIds: readonly string[] } | null
}

/** The modules of the reader's first load, without the texts. */
function reach(graph: Graph): Set<string> {
  const modules = new Set<string>()
  const look = (id: string) => {
    // The index of all texts imports each; only those that are named are kept.
    if (modules.has(id) || id.includes('/messages/compiled/')) return
    modules.add(id)
    graph.getModuleInfo(id)?.importedIds.forEach(look)
  }
  firstLoad.forEach(look)
  return modules
}

const shared =
  /node_modules\/(svelte|esm-env|clsx|sv-router|openapi-fetch|idb-keyval|@lucide)\/|src\/(api|device|parts|routes|talk|timer(?!\/lead)|live\/outbox)|src\/messages\/(locale|texts)|src\/screens\/reader\/(ConnectionState|shortcuts|extras|address)|rolldown\/runtime/

/** Names a chunk of the modules that the reader's first load needs, or of those that it does not. */
function ofReader(name: string, needed: boolean) {
  let modules: ReturnType<typeof reach> | undefined
  return (id: string, graph: Graph) => ((modules ??= reach(graph)).has(id) === needed ? name : null)
}

const ofBase = ofReader('base', true)

/** The functions that give the texts of a part; the texts themselves are loaded by language. */
const words = (part: string) => new RegExp(`messages/compiled/${part}/(?!${part}-)`)

/** What attendees open, but for the editor and the parsers of languages: those are kept once they were used. */
const ofAttendees =
  /src\/(screens\/(reader|whole|certificate)|assistant|call|code|comments|files|help|markdown|parts|polls|questions|screenshare|talk|timer)\/(?!lead\/)/

/** Tells the service worker what was built. */
function offline(): Plugin {
  return {
    name: 'offline',
    async writeBundle({ dir }, bundle) {
      const files = new Set<string>()
      const texts: Record<string, string[]> = {}
      const take = (name: string) => {
        const chunk = bundle[name]
        if (chunk?.type !== 'chunk' || files.has(name)) return
        files.add(name)
        chunk.imports.forEach(take)
      }
      for (const [name, chunk] of Object.entries(bundle)) {
        if (chunk.type === 'asset') {
          if (name.endsWith('.css')) files.add(name)
          continue
        }
        const of = chunk.facadeModuleId ?? ''
        const text = /compiled\/(?:first|more)\/\w+?-([\w-]+)\.js$/.exec(of)
        if (text) (texts[text[1]!] ??= []).push('/' + name)
        else if (chunk.name === 'index' || ofAttendees.test(of)) take(name)
      }
      const built: Omit<Built, 'id'> = { files: [...files].sort().map((name) => '/' + name), texts }
      const all = Object.keys(bundle).sort().join()
      const sw = path.join(dir!, 'sw.js')
      const code = await readFile(sw, 'utf8')
      const id = createHash('sha256').update(all).update(code).digest('hex').slice(0, 12)
      const mark = /[`'"]__BUILT__[`'"]/
      if (!mark.test(code)) throw new Error('sw.js has no place for what was built')
      await writeFile(
        sw,
        code.replace(mark, () => JSON.stringify({ id, ...built })),
      )
    },
  }
}

/** Names of emoji, without what else their list says: a tenth of it. */
function emoji(): Plugin {
  const id = 'virtual:emoji'
  return {
    name: 'emoji',
    resolveId: (wanted) => (wanted === id ? '\0' + id : null),
    load: (wanted) => (wanted === '\0' + id ? `export default ${JSON.stringify(gemoji.map((e) => [e.emoji, ...e.names].join(' ')).join('\n'))}` : null),
  }
}

// During development of the app the server runs separately (npm run dev).
const server = process.env.ATELIER ?? 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [svelte(), emoji(), handbook(), offline()],
  // The server can be below a path of its host, which only the server has. So files refer to each
  // other relatively, and the server writes their base into the page.
  base: './',
  build: {
    outDir: '../built',
    emptyOutDir: true,
    target: 'es2022',
    // The policy allows no data: script and no inline one.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The styles of a lazily loaded part come with it: those of the facilitators' screens are
    // half of all.
    cssCodeSplit: true,
    rolldownOptions: {
      input: { index: 'index.html', sw: 'src/offline/sw.ts' },
      output: {
        // A service worker keeps its name, and covers what is beside it.
        entryFileNames: (chunk) => (chunk.name === 'sw' ? 'sw.js' : 'assets/[name]-[hash].js'),
        codeSplitting: {
          groups: [
            // The code that every screen needs is in one chunk. The code that the reader does not
            // need at first is in another one.
            {
              debugName: 'base',
              name: (id, graph) => (words('first').test(id) ? 'base' : ofBase(id, graph)),
              test: new RegExp(`${shared.source}|${words('first').source}`),
            },
            { name: 'more-words', test: words('more') },
            { name: 'lead-words', test: words('lead') },
            // The connection and the state, which readers and facilitators have in common.
            { debugName: 'room', name: ofReader('room', true), test: /src\/(call|live|timer|workshop)\//, minShareCount: 2 },
            { debugName: 'more', name: ofReader('more', false), test: shared, minShareCount: 2 },
            {
              name: 'markdown',
              test: /node_modules\/(marked|dompurify)\/|src\/markdown\/(?!highlight|notes|blocks|emoji|foreign|beside|checks|places|maths|diagrams|embeds)/,
              minShareCount: 2,
            },
          ],
        },
      },
    },
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { '/api': { target: server, ws: true }, '/uploads': server } },
  // For tests that hang: a busy machine takes many times as long as a quiet one.
  test: { include: ['src/**/*.test.ts'], environment: 'node', setupFiles: 'src/messages/setup.ts', testTimeout: 120_000, hookTimeout: 120_000 },
})
