// Stores the app's files for the service worker. Each build has its own cache.

/** A build of the app, with the paths of its files. */
export interface Built {
  /** Changes whenever a file changes. */
  id: string
  /** The files of the attendees' pages, without the app's texts. */
  files: readonly string[]
  /** The app's texts for attendees, by language. */
  texts: Readonly<Record<string, readonly string[]>>
}

/** A page's report to the worker: its language, and the files that it has loaded. */
export interface Loaded {
  locale: string
  files: readonly string[]
}

/** The wait for the server's response, in milliseconds. After it, the cached page is used. */
const timeout = 5000

/** The maximum number of files in a report. The app has fewer. */
const most = 300

const begins = 'atelier-app-'
/** The address under which the app's page is cached. All addresses of the app show this page. */
const page = '/'

/** Paths that belong to the server. No page of the app is below these paths. */
const servers = ['/api/', '/uploads/', '/assets/', '/git/', '/handler/', '/schemas/', '/.well-known/']

type Caches = Pick<CacheStorage, 'open' | 'keys' | 'delete' | 'match'>

export class Shell {
  readonly #built: Built
  /** The base URL of the server: the root of its host, or a path below it. */
  readonly #root: URL
  readonly #caches: Caches
  readonly #fetch: (request: Request) => Promise<Response>

  constructor(built: Built, root: URL, caches: Caches, fetch: (request: Request) => Promise<Response>) {
    this.#built = built
    this.#root = root
    this.#caches = caches
    this.#fetch = fetch
  }

  get #name(): string {
    return begins + this.#built.id
  }

  #at(path: string): URL {
    return new URL('.' + path, this.#root)
  }

  /**
   * Caches the app's page and the build's files, but not its texts. If a file is missing, or if the
   * page belongs to another build, it caches nothing and throws.
   */
  async install(): Promise<void> {
    const { files, texts } = this.#built
    const all = new Set([...files, ...Object.values(texts).flat()])
    const answers = await Promise.all(
      [page, ...files].map(async (path) => {
        const answer = await this.#fetch(new Request(this.#at(path)))
        if (path === page ? !answer.ok || answer.redirected : !isFile(answer)) throw new TypeError(`the server did not return ${path}`)
        return [path, answer] as const
      }),
    )
    // Another server of a cluster or a proxy may have answered. The build is cached only if the
    // page belongs to it.
    const named = (await answers[0]![1].clone().text()).match(/\/assets\/[\w.-]+/g) ?? []
    if (!named.some((path) => files.includes(path)) || !named.every((path) => all.has(path))) throw new TypeError('the page belongs to another build')
    const had = (await this.#caches.keys()).includes(this.#name)
    const cache = await this.#caches.open(this.#name)
    try {
      for (const [path, answer] of answers) await cache.put(this.#at(path), answer)
    } catch (e) {
      if (!had) await this.#caches.delete(this.#name) // the device is full
      throw e
    }
  }

  /** Deletes other builds. */
  async activate(): Promise<void> {
    for (const name of await this.#caches.keys()) if (name.startsWith(begins) && name !== this.#name) await this.#caches.delete(name)
  }

  /** Caches the files that a page has loaded, and the app's texts in its language. */
  async keep(loaded: unknown): Promise<void> {
    if (!isLoaded(loaded)) return
    const texts = Object.hasOwn(this.#built.texts, loaded.locale) ? this.#built.texts[loaded.locale]! : []
    const cache = await this.#caches.open(this.#name)
    for (const path of [...loaded.files.slice(0, most), ...texts]) {
      if (!isAsset(path) || (await cache.match(this.#at(path), { ignoreVary: true }))) continue
      // The fetch is fast, because the browser's cache has the file. A file that no longer exists
      // belongs to another build, and is skipped.
      try {
        const answer = await this.#fetch(new Request(this.#at(path)))
        if (isFile(answer)) await cache.put(this.#at(path), answer)
      } catch {
        // The device is offline or full.
      }
    }
  }

  /** Responds to a request. Returns null to leave the request to the browser. */
  answer(request: Request): Promise<Response> | null {
    const { origin, pathname } = new URL(request.url)
    const below = this.#root.pathname.slice(0, -1)
    if (request.method !== 'GET' || origin !== this.#root.origin || !pathname.startsWith(below + '/')) return null
    const path = pathname.slice(below.length)
    if (isAsset(path)) return this.#asset(request)
    if (request.mode === 'navigate') return servers.some((s) => path.startsWith(s)) ? null : this.#page(request)
    if (path.startsWith('/uploads/images/')) return this.#picture(request)
    return null
  }

  /** A file whose name changes with its content. */
  async #asset(request: Request): Promise<Response> {
    const kept = await this.#kept(request)
    if (kept) return kept
    const answer = await this.#fetch(request)
    if (isFile(answer)) {
      const copy = answer.clone()
      void this.#caches.open(this.#name).then((cache) => cache.put(request, copy).catch(() => {})) // the device is full
    }
    return answer
  }

  /** The server's page, or the cached page if the server is unavailable or too slow. */
  async #page(request: Request): Promise<Response> {
    const kept = this.#caches.open(this.#name).then((cache) => cache.match(this.#at(page), { ignoreVary: true }))
    const answer = this.#fetch(request)
    answer.catch(() => {}) // handled below
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), timeout)))
    try {
      const first = await Promise.race([answer, late])
      if (first && first.status < 502) return first
      return (await kept) ?? (await answer)
    } catch (e) {
      const shown = await kept
      if (shown) return shown
      throw e
    } finally {
      clearTimeout(timer)
    }
  }

  async #picture(request: Request): Promise<Response> {
    try {
      return await this.#fetch(request)
    } catch (e) {
      const kept = await this.#kept(request)
      if (kept) return kept
      throw e
    }
  }

  #kept(request: Request): Promise<Response | undefined> {
    return this.#caches.match(request, { ignoreVary: true })
  }
}

const isAsset = (path: string) => /^\/assets\/[\w.-]+$/.test(path)

/**
 * Whether the response is a file of a build. A proxy can respond with its own page, which must not
 * be cached.
 */
const isFile = (answer: Response) => answer.ok && !answer.redirected && !/html/i.test(answer.headers.get('content-type') ?? '')

function isLoaded(x: unknown): x is Loaded {
  const { locale, files } = (x ?? {}) as Partial<Loaded>
  return typeof locale === 'string' && Array.isArray(files) && files.every((f) => typeof f === 'string')
}
