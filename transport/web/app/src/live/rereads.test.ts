import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { workshop, type Again, type Codelab, type Workshop } from '../workshop/state'
import { Meanwhile, type Holder } from './meanwhile'
import type { Told } from './protocol'
import { Rereads } from './rereads'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const marked = (...again: Again[]): { now: Workshop | null } => ({
  now: { ...workshop('a', { id: 'lab', title: 'Old' } as Codelab, []), again: new Set(again) },
})
const title = (t: string): Partial<Workshop> => ({ codelab: { id: 'lab', title: t } as Codelab })
const reader = (holder: Holder, read: (what: Again) => Promise<Partial<Workshop>>) =>
  new Rereads(holder, new Meanwhile(holder), async (what) => ({ part: await read(what), at: null }))
const settle = () => vi.advanceTimersByTimeAsync(3000)

test('each marked part is read once, however often a read is requested', async () => {
  const holder = marked('codelab', 'threads')
  const read: Again[] = []
  const rereads = reader(holder, async (what) => (read.push(what), what === 'codelab' ? title('New') : {}))
  rereads.soon()
  rereads.soon()
  expect(read).toEqual([])
  await settle()
  expect(read.toSorted()).toEqual(['codelab', 'threads'])
  expect([holder.now?.codelab.title, [...holder.now!.again]]).toEqual(['New', []])
})

test('a change during a read causes one more read', async () => {
  const holder = marked('codelab')
  let reads = 0
  const rereads = reader(holder, async () => {
    if (++reads === 1) {
      holder.now = { ...holder.now!, again: new Set<Again>(['codelab']) }
      rereads.soon()
    }
    return title(`New ${reads}`)
  })
  rereads.soon()
  await settle()
  expect([holder.now?.codelab.title, [...holder.now!.again]]).toEqual(['New 2', []])
})

// In a cluster, a node can answer that does not have the reported change yet.
test('a part from a node that lags behind is read again', async () => {
  const holder = marked('codelab')
  const meanwhile = new Meanwhile(holder)
  let reads = 0
  const rereads = new Rereads(holder, meanwhile, async (what) =>
    what === 'codelab' ? { part: title(`New ${++reads}`), at: reads < 3 ? 49 : 50 } : { part: {}, at: 50 },
  )
  meanwhile.add({ type: 'codelab_changed', seq: 50 } as Told)
  rereads.soon()
  await settle()
  expect([holder.now?.codelab.title, [...holder.now!.again]]).toEqual(['New 3', []])
})

test('a part whose read failed is marked again', async () => {
  const holder = marked('codelab')
  let fail = true
  const rereads = reader(holder, async () => {
    if (fail) throw new TypeError('offline')
    return title('New')
  })
  rereads.soon()
  await settle()
  expect([...holder.now!.again]).toEqual(['codelab'])
  fail = false
  rereads.soon()
  await settle()
  expect([holder.now?.codelab.title, [...holder.now!.again]]).toEqual(['New', []])
})

test('nothing is read after stop', async () => {
  const holder = marked('codelab')
  let read = 0
  const rereads = reader(holder, async () => (read++, {}))
  rereads.soon()
  rereads.stop()
  await settle()
  expect(read).toBe(0)
})

test('an immediate read that fails rejects, and marks the part for the next read', async () => {
  const holder = marked()
  await expect(reader(holder, () => Promise.reject(new TypeError('offline'))).now('codelab')).rejects.toThrow('offline')
  expect([holder.now?.codelab.title, [...holder.now!.again]]).toEqual(['Old', ['codelab']])
  await reader(holder, async () => title('New')).now('codelab')
  expect([holder.now?.codelab.title, [...holder.now!.again]]).toEqual(['New', []])
})
