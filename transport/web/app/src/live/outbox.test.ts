import { describe, expect, test } from 'vitest'
import { Outbox, type Kept, type Storage } from './outbox'

function device(): Storage & { map: Map<string, string>; tell: (key: string) => void } {
  const map = new Map<string, string>()
  const watchers: ((key: string) => void)[] = []
  return {
    map,
    get: (k) => map.get(k) ?? null,
    set: (k, v) => void map.set(k, v),
    remove: (k) => void map.delete(k),
    keys: () => [...map.keys()],
    watch: (f) => void watchers.push(f),
    tell: (key: string) => watchers.forEach((f) => f(key)),
  }
}

function open(storage: Storage, owner = 'lab:a1') {
  let shown: readonly Kept[] = []
  const box = new Outbox(owner, storage, (entries) => (shown = entries))
  return {
    box,
    get texts() {
      return shown.map((e) => e.message.message)
    },
  }
}

const say = (message: string) => ({ type: 'chat', message })

describe('the outbox', () => {
  test('keeps messages in order until the server has stored them', () => {
    const s = device()
    const o = open(s)
    const a = o.box.add(say('one'), 1)
    o.box.add(say('two'), 2)
    expect(o.texts).toEqual(['one', 'two'])
    o.box.done((a as Kept).ref)
    expect(o.texts).toEqual(['two'])
    expect(s.map.size).toBe(1)
  })

  test('keeps its messages and their refs when the page is closed', () => {
    const s = device()
    const first = open(s)
    const refs = [first.box.add(say('one'), 5), first.box.add(say('two'), 6)].map((e) => (e as Kept).ref)
    const later = open(s)
    expect(later.texts).toEqual(['one', 'two'])
    expect(later.box.waiting().map((e) => e.message.ref)).toEqual(refs)
  })

  test('belongs to one person in one codelab', () => {
    const s = device()
    open(s).box.add(say('mine'), 1)
    expect(open(s, 'lab:a2').texts).toEqual([])
    expect(open(s, 'lab2:a1').texts).toEqual([])
  })

  test('gives each message its own ref', () => {
    const o = open(device())
    const refs = Array.from({ length: 100 }, (_, i) => (o.box.add(say('x'), i) as Kept).ref)
    expect(new Set(refs).size).toBe(100)
    expect(refs.every((r) => r.length <= 64)).toBe(true)
  })

  test('keeps a refused message with the reason, and sends it only on request', () => {
    const o = open(device())
    const a = o.box.add(say('one'), 1) as Kept
    o.box.send(a.ref, 2)
    o.box.refused(a.ref, 'muted')
    expect(o.box.entries[0]?.refused).toBe('muted')
    expect(o.box.waiting()).toEqual([])
    expect(o.box.send(a.ref, 3)).toBe(false)
    const again = o.box.again(a.ref, 4) as Kept
    expect(again.ref).not.toBe(a.ref)
    expect(o.box.waiting().map((e) => e.ref)).toEqual([again.ref])
  })

  test('keeps only the latest step and the latest pulse', () => {
    const o = open(device())
    for (const step of [1, 2, 3]) o.box.add({ type: 'step_progress', step_number: step }, step)
    o.box.add({ type: 'pulse', state: 'slow' }, 4)
    o.box.add({ type: 'pulse', state: null }, 5)
    expect(o.box.waiting().map((e) => e.message.step_number ?? e.message.state)).toEqual([3, null])
    for (const e of o.box.waiting()) o.box.send(e.ref, 6)
    // A sent message may have arrived, so the outbox keeps it.
    o.box.add({ type: 'step_progress', step_number: 4 }, 7)
    expect(o.box.entries.filter((e) => e.message.type === 'step_progress')).toHaveLength(2)
    const late = o.box.entries.find((e) => e.message.step_number === 4)!
    o.box.refused(late.ref, 'no such step')
    expect(o.box.entries.some((e) => e.ref === late.ref)).toBe(false)
  })

  test('keeps only the latest tick of each task', () => {
    const o = open(device())
    const tick = (step: string, item: string, done: boolean) => o.box.add({ type: 'tick', step_id: step, item, done }, 1)
    for (const [step, item, done] of [
      ['a', 'x', true],
      ['a', 'y', true],
      ['b', 'x', true],
      ['a', 'x', false],
    ] as const)
      tick(step, item, done)
    expect(o.box.waiting().map(({ message: m }) => [m.step_id, m.item, m.done])).toEqual([
      ['a', 'y', true],
      ['b', 'x', true],
      ['a', 'x', false],
    ])
    const [first] = o.box.waiting()
    o.box.refused(first!.ref, 'no such task')
    expect(o.box.entries).toHaveLength(2)
  })

  test('lists sent messages as doubtful when the server may no longer have their refs', () => {
    const o = open(device())
    o.box.send((o.box.add(say('early'), 0) as Kept).ref, 0)
    o.box.add(say('late'), 1)
    expect(o.box.doubtful(9 * 60_000).map((e) => e.message.message)).toEqual([])
    expect(o.box.doubtful(9 * 60_000 + 1).map((e) => e.message.message)).toEqual(['early'])
  })

  test('follows what another tab has sent, completed or removed', () => {
    const s = device()
    const [one, two] = [open(s), open(s)]
    const a = one.box.add(say('one'), 1) as Kept
    const later = open(s) // a tab that takes over the entries
    later.box.send(a.ref, 5)
    s.tell(`atelier:out:lab:a1:${a.ref}`)
    expect(one.box.entries[0]?.sent).toBe(5)
    later.box.done(a.ref)
    // This tab sends nothing twice, although it has not been notified yet.
    expect(one.box.send(a.ref, 6)).toBe(false)
    expect(one.texts).toEqual([])
    const b = one.box.add(say('two'), 7) as Kept
    s.map.delete(`atelier:out:lab:a1:${b.ref}`)
    s.tell(`atelier:out:lab:a1:${b.ref}`)
    expect(one.texts).toEqual([])
    expect(two.texts).toEqual([])
  })

  test('holds 200 messages and reports when it is full', () => {
    const o = open(device())
    let kept = 0
    while (o.box.add(say('x'), kept)) kept++
    expect(kept).toBe(200)
  })

  test('discards stored entries that it cannot read', () => {
    const s = device()
    s.map.set('atelier:out:lab:a1:x', '{broken')
    s.map.set('atelier:out:lab:a1:y', '{"ref":1}')
    expect(open(s).texts).toEqual([])
    expect(s.map.size).toBe(0)
  })

  test('restores the messages of an earlier page in the order in which they were written', () => {
    const s = device()
    const kept = (ref: string, at: number) =>
      s.map.set(`atelier:out:lab:a1:${ref}`, JSON.stringify({ ref, message: { ...say(ref), ref }, at, sent: null, refused: null }))
    kept('second', 2)
    kept('first', 1)
    expect(open(s).texts).toEqual(['first', 'second'])
  })

  test('counts the time until a message is doubtful from its first send, and ends the doubt when it is refused', () => {
    const o = open(device())
    const a = o.box.add(say('one'), 0) as Kept
    o.box.send(a.ref, 0)
    o.box.send(a.ref, 8 * 60_000) // the server can have its ref since the first send
    expect(o.box.doubtful(9 * 60_000 + 1).map((e) => e.ref)).toEqual([a.ref])
    o.box.refused(a.ref, 'muted')
    expect(o.box.doubtful(9 * 60_000 + 1)).toEqual([])
  })

  test('keeps a refusal when the page is reopened, and queues the message once when it is sent again', () => {
    const s = device()
    const o = open(s)
    const a = o.box.add(say('one'), 1) as Kept
    o.box.refused(a.ref, 'muted')
    const later = open(s)
    expect(later.box.entries.map((e) => e.refused)).toEqual(['muted'])
    later.box.again(a.ref, 2)
    expect(later.texts).toEqual(['one'])
    expect(open(s).texts).toEqual(['one'])
    expect(later.box.again('unknown', 3)).toBe(false)
  })
})
