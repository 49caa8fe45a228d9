import { afterEach, expect, test, vi } from 'vitest'

const db = new Map<string, unknown>()
vi.mock('idb-keyval', () => ({
  get: async (k: string) => db.get(k),
  update: async (k: string, f: (old: unknown) => unknown) => {
    await Promise.resolve() // as in a browser, the stored value arrives later
    db.set(k, f(db.get(k)))
  },
  entries: async () => [...db],
}))
const small: Record<string, string> = {}
const local = Object.create({
  getItem: (k: string) => small[k] ?? null,
  setItem: (k: string, v: string) => void (local[k] = small[k] = v),
  removeItem(k: string) {
    delete small[k]
    delete local[k]
  },
}) as Record<string, string>
vi.stubGlobal('localStorage', local)
vi.stubGlobal('addEventListener', vi.fn())
vi.stubGlobal('removeEventListener', vi.fn())
vi.stubGlobal('document', { addEventListener: vi.fn(), removeEventListener: vi.fn() })

const { countDrafts, keeper, recallDraft } = await import('./drafts')
const written = () => new Promise((done) => setTimeout(done, 0))

afterEach(() => db.clear())

test('a stopped keeper stores the work of that moment, even if the page goes on to other work', async () => {
  let work: string | undefined = 'of the first branch'
  const first = keeper<string>('code:lab:first', () => {
    const taken = work
    return () => taken
  })
  first.later()
  first.stop()
  work = undefined
  expect(await recallDraft('code:lab:first')).toBe('of the first branch')
  await written()
  expect(await recallDraft('code:lab:first')).toBe('of the first branch')
  expect(Object.keys(small)).toEqual([])
})

test('drafts are counted, but not deleted ones or other stored values', async () => {
  db.set('atelier:edit:lab', { at: 1, value: 'a text' })
  db.set('atelier:edit:lab2', { at: 1, value: undefined })
  db.set('atelier:text:lab', { steps: [] })
  const both = keeper<string>('edit:lab', () => () => 'newer')
  both.later()
  both.stop() // stored twice until IndexedDB has it
  expect(await countDrafts()).toBe(1)
})
