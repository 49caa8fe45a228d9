import { expect, test, vi } from 'vitest'

// Sign-out with two tabs: the other tab is notified by a message, which takes a moment.
let clearing = Promise.resolve()
const cleared = vi.fn(() => clearing)
vi.mock('idb-keyval', () => ({ clear: cleared, get: vi.fn(), set: vi.fn(), del: vi.fn(), entries: vi.fn(), update: vi.fn() }))
vi.mock('../api/client', () => ({ api: {}, ask: vi.fn() }))
vi.mock('./person', () => ({ unsentHere: () => [] }))
vi.mock('./place', () => ({ base: '', sitePath: (to: string) => to }))

/** A storage with its keys as own properties, as in browsers. */
class Storage {
  getItem = (key: string) => (this as unknown as Record<string, string>)[key] ?? null
  setItem = (key: string, value: string) => void Object.defineProperty(this, key, { value, enumerable: true, configurable: true })
  removeItem = (key: string) => void delete (this as unknown as Record<string, string>)[key]
  constructor() {
    for (const method of Object.keys(this)) Object.defineProperty(this, method, { enumerable: false })
  }
}
const local = new Storage()
vi.stubGlobal('localStorage', local)
vi.stubGlobal('sessionStorage', new Storage())
let hear: (e: { data: unknown }) => void
vi.stubGlobal('BroadcastChannel', function () {
  return { addEventListener: (_: string, f: typeof hear) => (hear = f), postMessage: vi.fn() }
})
vi.stubGlobal('addEventListener', vi.fn())
const page = { documentElement: { hidden: false } }
vi.stubGlobal('document', page)
const replace = vi.fn()
vi.stubGlobal('location', { replace })

const { followSession } = await import('./session')
const { keeps, remember } = await import('./remember')

test('another tab forgets what it stored between the sign-out and the message', async () => {
  let done = () => {}
  clearing = new Promise((resolve) => (done = resolve))
  followSession()
  local.setItem('atelier:theme', '"dark"')
  remember('texts', ['a codelab'])
  hear({ data: 'something else' })
  expect(Object.keys(local)).toEqual(['atelier:theme', 'atelier:texts'])
  hear({ data: 'signed out' })
  expect(Object.keys(local)).toEqual(['atelier:theme'])
  expect(cleared).toHaveBeenCalled()
  expect(keeps()).toBe(false)
  expect(page.documentElement.hidden).toBe(true)
  // The page is left only after the deletion.
  await Promise.resolve()
  expect(replace).not.toHaveBeenCalled()
  done()
  await vi.waitFor(() => expect(replace).toHaveBeenCalledWith('/'), { timeout: 60_000 })
})
