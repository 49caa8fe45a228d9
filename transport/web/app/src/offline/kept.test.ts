import { describe, expect, test, vi } from 'vitest'
import type { First } from '../live/room.svelte'

const db = new Map<string, unknown>()
vi.mock('idb-keyval', () => ({
  get: (k: string) => Promise.resolve(db.get(k)),
  set: (k: string, v: unknown) => Promise.resolve(void db.set(k, structuredClone(v))),
  del: (k: string) => Promise.resolve(void db.delete(k)),
}))
const small = new Map<string, string>()
vi.stubGlobal('localStorage', {
  getItem: (k: string) => small.get(k) ?? null,
  setItem: (k: string, v: string) => void small.set(k, v),
  removeItem: (k: string) => void small.delete(k),
})
vi.stubGlobal('isSecureContext', true)
vi.stubGlobal('navigator', { serviceWorker: {} })
const cached = new Map<string, string[]>()
vi.stubGlobal('caches', {
  has: (n: string) => Promise.resolve(cached.has(n)),
  keys: () => Promise.resolve([...cached.keys()]),
  delete: (n: string) => Promise.resolve(cached.delete(n)),
  open: (n: string) => {
    const held = cached.get(n) ?? cached.set(n, []).get(n)!
    return Promise.resolve({
      keys: () => Promise.resolve(held.map((path) => ({ url: `https://a.test${path}` }))),
      add: (path: string) => Promise.resolve(void held.push(path)),
      delete: (r: { url: string }) => Promise.resolve(void held.splice(held.indexOf(new URL(r.url).pathname), 1)),
    })
  },
})

const { keepText, keptText, letGo, letGoOfPictures, letGoOfTexts, ofText } = await import('./kept')
const { silence } = await import('../device/remember')

const picture = (c: string) => `/uploads/images/${c.repeat(32)}.png`
const first = (id: string, text = 'Text'): First =>
  ({
    me: 'ann',
    codelab: {
      id,
      title: 'T',
      author: 'A',
      guide_markdown: null,
      pin: { message: 'from Ben' },
      pointer: {},
      poll: {},
      timer: {},
      spotlight: {},
      now: 'x',
      online: 3,
      attendees: 4,
      join_code: 'ABC',
    },
    steps: [{ id: 's', content_markdown: text }],
    own: { id: 'ann', name: 'Ann' },
  }) as unknown as First

describe('the text of a visited codelab', () => {
  test('is kept without the activity of others', async () => {
    expect(ofText(first('a')).codelab).toEqual({ id: 'a', title: 'T', author: 'A', guide_markdown: null })
    await keepText(first('a'))
    expect(await keptText('a')).toEqual(ofText(first('a')))
    expect(await keptText('b')).toBeNull()
  })

  test('is kept with its pictures, and pictures that are no longer in the text are removed', async () => {
    await keepText(first('a', `![x](${picture('1')}) ![y](${picture('2')}) ![z](https://b.test/z.png)`))
    expect(cached.get('atelier-pictures-a')).toEqual([picture('1'), picture('2')])
    await keepText(first('a', `![y](${picture('2')}) ![n](${picture('3')})`))
    expect(cached.get('atelier-pictures-a')).toEqual([picture('2'), picture('3')])
    await letGo('a')
    expect([cached.size, await keptText('a')]).toEqual([0, null])
  })

  test('is removed when ten newer texts are kept', async () => {
    for (let i = 0; i < 12; i++) await keepText(first(`lab${i}`, picture('4')))
    await keepText(first('lab2'))
    await keepText(first('lab12', picture('4')))
    const there = await Promise.all(Array.from({ length: 13 }, async (_, i) => ((await keptText(`lab${i}`)) ? i : -1)))
    expect(there.filter((i) => i >= 0)).toEqual([2, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    expect(cached.has('atelier-pictures-lab0')).toBe(false)
    await letGoOfPictures()
    expect(cached.size).toBe(0)
  })

  test('is removed with all others by letGoOfTexts', async () => {
    await keepText(first('a', picture('5')))
    await letGoOfTexts()
    expect([db.size, cached.size, await keptText('a')]).toEqual([0, 0, null])
  })

  test('is not kept after the person has signed out', async () => {
    db.clear()
    silence()
    await keepText(first('a'))
    expect(db.size).toBe(0)
    expect(await keptText('a')).toBeNull()
  })
})
