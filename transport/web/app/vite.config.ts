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
    // The index of all texts imports every text, but the build keeps only texts that are used.
    if (modules.has(id) || id.includes('/messages/compiled/')) return
    modules.add(id)
    graph.getModuleInfo(id)?.importedIds.forEach(look)
  }
  firstLoad.forEach(look)
  return modules
}

const shared =
  /node_modules\/(svelte|esm-env|clsx|sv-router|openapi-fetch|idb-keyval|@lucide)\/|src\/(api|device|parts|routes|talk|timer(?!\/lead)|live\/outbox)|src\/messages\/(locale|texts)|src\/screens\/reader\/(ConnectionState|shortcuts|extras|address)|rolldown\/runtime/

/**
 * Returns a function that assigns modules to the chunk with this name. If needed is true, these are
 * the modules that the reader's first load needs, or else all other modules.
 */
function ofReader(name: string, needed: boolean) {
  let modules: ReturnType<typeof reach> | undefined
  return (id: string, graph: Graph) => ((modules ??= reach(graph)).has(id) === needed ? name : null)
}

const ofBase = ofReader('base', true)

/**
 * Matches the functions that return the texts of a part. The texts themselves are loaded for one
 * language.
 */
const words = (part: string) => new RegExp(`messages/compiled/${part}/(?!${part}-)`)

/**
 * Matches the modules that attendees use, except for the editor and the parsers of programming
 * languages, which are cached at their first use.
 */
const ofAttendees =
  /src\/(screens\/(reader|whole|certificate)|assistant|call|code|comments|files|help|markdown|parts|polls|questions|screenshare|talk|timer)\/(?!lead\/)/

/** Passes the list of built files to the service worker. */
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
      if (!mark.test(code)) throw new Error('sw.js has no placeholder for the list of built files')
      await writeFile(
        sw,
        code.replace(mark, () => JSON.stringify({ id, ...built })),
      )
    },
  }
}

/** The names of emoji. The package's list contains other data, too, and is ten times as large. */
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
  // The server can be below a path of its host, which is unknown at build time. Files therefore
  // refer to each other with relative addresses, and the server inserts their base into the page.
  base: './',
  build: {
    outDir: '../built',
    emptyOutDir: true,
    target: 'es2022',
    // The Content-Security-Policy does not permit inline scripts or data: scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Each lazily loaded part has its own styles, because half of all styles are for facilitators'
    // screens.
    cssCodeSplit: true,
    rolldownOptions: {
      input: { index: 'index.html', sw: 'src/offline/sw.ts' },
      output: {
        // The name of the service worker must not change. A service worker controls only pages
        // below its own folder, so it is in the root.
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
            // The connection and the state are used by readers and by facilitators.
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
  // This limit only ends tests that hang. It is long, because a busy machine is many times slower
  // than a quiet one.
  test: { include: ['src/**/*.test.ts'], environment: 'node', setupFiles: 'src/messages/setup.ts', testTimeout: 120_000, hookTimeout: 120_000 },
})
