import { beforeEach, describe, expect, test, vi } from 'vitest'
import { Shell, type Built } from './shell'

const origin = 'https://workshop.test'

/**
 * The part of the browser's cache API that the worker uses. Added files are requested from the
 * server.
 */
class Store {
  readonly all = new Map<string, Map<string, Response>>()
  full = false
  constructor(readonly server: (path: string) => Response | Promise<Response>) {}
  open = (name: string) => {
    const held = this.all.get(name) ?? this.all.set(name, new Map()).get(name)!
    const at = (r: Request | URL | string) => new URL(r instanceof Request ? r.url : r, origin).pathname
    const add = async (path: string) => {
      const answer = await this.server(path)
      if (!answer.ok) throw new TypeError('not ok')
      held.set(path, answer)
    }
    return Promise.resolve({
      add,
      match: (r: Request | URL | string) => Promise.resolve(held.get(at(r))?.clone()),
      put: (r: Request | URL, answer: Response) =>
        this.full ? Promise.reject(new DOMException('full', 'QuotaExceededError')) : Promise.resolve(void held.set(at(r), answer)),
    }) as unknown as Promise<Cache>
  }
  keys = () => Promise.resolve([...this.all.keys()])
  delete = (name: string) => Promise.resolve(this.all.delete(name))
  match = async (r: Request | string) => {
    for (const name of this.all.keys()) {
      const found = await (await this.open(name)).match(r)
      if (found) return found
    }
    return undefined
  }
}

const built: Built = { id: 'b2', files: ['/assets/index-2.js'], texts: { de: ['/assets/first-de-2.js'], en: ['/assets/first-en-2.js'] } }
const index = '<script src="/assets/index-2.js"></script><link href="/assets/first-en-2.js">'
let server: (path: string) => Response | Promise<Response>
let store: Store
let shell: Shell

beforeEach(() => {
  server = (path) => new Response(path === '/' ? index : `server: ${path}`)
  store = new Store((path) => server(path))
  shell = new Shell(built, new URL(origin), store, (request) => Promise.resolve().then(() => server(new URL(request.url).pathname)))
})

const away = () => {
  server = () => Promise.reject(new TypeError('no network'))
}
const ask = (path: string, navigate = false) => {
  const request = new Request(new URL(path, origin))
  if (navigate) Object.defineProperty(request, 'mode', { value: 'navigate' })
  return shell.answer(request)
}
const text = async (path: string, navigate = false) => (await (await ask(path, navigate))?.text()) ?? null
const held = () => [...(store.all.get('atelier-app-b2')?.keys() ?? [])].sort()

describe('a build', () => {
  test('is stored whole or not at all', async () => {
    await shell.install()
    expect(held()).toEqual(['/', '/assets/index-2.js'])
    store.all.clear()
    server = (path) => new Response(index, { status: path === '/' ? 200 : 404 })
    await expect(shell.install()).rejects.toThrow('the server did not return')
    expect(held()).toEqual([])
  })

  test("is not stored from a server of another build or from a proxy's page", async () => {
    for (const other of ['<script src="/assets/index-1.js"></script>', `${index}<link href="/assets/x-1.css">`, 'Please sign in']) {
      server = (path) => new Response(path === '/' ? other : '')
      await expect(shell.install()).rejects.toThrow('another build')
    }
    server = (path) => new Response(index, { headers: { 'content-type': path === '/' ? 'text/html' : 'text/html; charset=utf-8' } })
    await expect(shell.install()).rejects.toThrow('the server did not return')
    expect(held()).toEqual([])
  })

  test('leaves nothing on a full device', async () => {
    store.full = true
    await expect(shell.install()).rejects.toThrow('full')
    expect([...store.all.keys()]).toEqual([])
  })

  test('replaces an older build, and keeps caches that do not belong to the app', async () => {
    await store.open('atelier-app-b1')
    await store.open('atelier-pictures-x')
    await shell.install()
    await shell.activate()
    expect([...store.all.keys()].sort()).toEqual(['atelier-app-b2', 'atelier-pictures-x'])
  })
})

describe('a list of loaded files', () => {
  test('is stored with the texts of its language, without files from other paths', async () => {
    await shell.keep({
      locale: 'de',
      files: ['/assets/more-1.js', '/api/session', '/uploads/images/x.png', 'https://elsewhere.test/assets/x.js', '/assets/../x'],
    })
    expect(held()).toEqual(['/assets/first-de-2.js', '/assets/more-1.js'])
  })

  test('is stored without files that no longer exist', async () => {
    server = (path) => new Response('', { status: path.includes('gone') ? 404 : 200 })
    await shell.keep({ locale: 'xx', files: ['/assets/gone-1.js', '/assets/here-1.js'] })
    expect(held()).toEqual(['/assets/here-1.js'])
  })

  test.each([null, undefined, 'x', {}, { locale: 'de' }, { locale: 1, files: [] }, { locale: 'de', files: [1] }, { locale: '__proto__', files: [] }])(
    'is ignored if it is invalid: %j',
    async (loaded) => {
      await shell.keep(loaded)
      expect(held()).toEqual([])
    },
  )
})

describe('a page', () => {
  beforeEach(() => shell.install())

  test('comes from the server', async () => expect(await text('/codelabs/x', true)).toBe('server: /codelabs/x'))

  test('comes from the cache without a network', async () => {
    away()
    expect(await text('/codelabs/x', true)).toBe(index)
  })

  test('comes from the cache after a 502 of a proxy', async () => {
    server = () => new Response('bad gateway', { status: 502 })
    expect(await text('/codelabs/x', true)).toBe(index)
  })

  test('with status 404 comes from the server', async () => {
    server = () => new Response('missing', { status: 404 })
    expect(await text('/codelabs/x', true)).toBe('missing')
  })

  test('comes from the cache when the server takes five seconds', async () => {
    vi.useFakeTimers()
    server = () => new Promise(() => {})
    const answer = text('/codelabs/x', true)
    await vi.advanceTimersByTimeAsync(5000)
    vi.useRealTimers()
    expect(await answer).toBe(index)
  })

  test('fails without a network and a cache', async () => {
    store.all.clear()
    away()
    await expect(text('/codelabs/x', true)).rejects.toThrow('no network')
  })

  test.each(['/api/codelabs/x/export/all', '/uploads/submissions/x', '/git/x', '/schemas/x.json', '/assets'])('is not answered at %s', (path) => {
    expect(path === '/assets' ? ask(path) : ask(path, true)).toBeNull()
  })
})

describe('a file', () => {
  test('comes from the cache after it was fetched once', async () => {
    expect(await text('/assets/a-1.js')).toBe('server: /assets/a-1.js')
    away()
    await vi.waitFor(async () => expect(await text('/assets/a-1.js')).toBe('server: /assets/a-1.js'), { timeout: 60_000 })
  })

  test('is not stored if the server returns a page instead', async () => {
    server = () => new Response('<h1>Sign in</h1>', { headers: { 'content-type': 'text/html' } })
    expect(await text('/assets/a-1.js')).toBe('<h1>Sign in</h1>')
    await shell.keep({ locale: 'de', files: ['/assets/b-1.js'] })
    expect(held()).toEqual([])
  })

  test('is not stored if the server returns 404', async () => {
    server = () => new Response('none', { status: 404 })
    expect(await text('/assets/a-1.js')).toBe('none')
    expect(held()).toEqual([])
  })
})

test('a picture comes from the network, or else from the cache', async () => {
  await (await store.open('atelier-pictures-x')).add('/uploads/images/p.png')
  server = () => new Response('newer')
  expect(await text('/uploads/images/p.png')).toBe('newer')
  away()
  expect(await text('/uploads/images/p.png')).toBe('server: /uploads/images/p.png')
  await expect(text('/uploads/images/q.png')).rejects.toThrow('no network')
})

test('personal data, other origins and POST requests do not pass through the worker', () => {
  expect(ask('/api/session')).toBeNull()
  expect(ask('/uploads/submissions/x.zip')).toBeNull()
  expect(shell.answer(new Request('https://elsewhere.test/assets/a-1.js'))).toBeNull()
  expect(shell.answer(new Request(new URL('/assets/a-1.js', origin), { method: 'POST' }))).toBeNull()
})

describe('an app below a base path', () => {
  test('is fetched and answered only below that path', async () => {
    const lab = new URL('https://workshop.test/lab/')
    const asked: string[] = []
    const away = { now: false }
    const below = new Shell(built, lab, store as unknown as CacheStorage, (request) => {
      asked.push(new URL(request.url).pathname)
      return away.now ? Promise.reject(new TypeError('no network')) : Promise.resolve(new Response(index.replaceAll('"/', '"/lab/')))
    })
    await below.install()
    expect(asked).toEqual(['/lab/', '/lab/assets/index-2.js'])
    away.now = true
    const get = (path: string, navigate = false) => {
      const request = new Request(new URL(path, lab))
      if (navigate) Object.defineProperty(request, 'mode', { value: 'navigate' })
      return below.answer(request)
    }
    expect((await get('/lab/codelabs/1', true))?.ok).toBe(true)
    expect((await get('/lab/assets/index-2.js'))?.ok).toBe(true)
    for (const path of ['/', '/codelabs/1', '/laboratory/', '/lab/api/x', '/lab/git/x']) expect(get(path, true)).toBeNull()
    expect(get('/assets/index-2.js')).toBeNull()
  })
})
