import { expect, test } from 'vitest'
import { Leftover, type Left } from './leftover.svelte'

const left = (work: string, older?: Left<string>): Left<string> => ({ work, at: '2026-03-02T09:00:00Z', older })

test('leftover work is offered, and kept until the person decides', () => {
  const l = new Leftover<string>()
  l.found(null)
  expect(l.offer).toBeNull()
  expect(l.keep(undefined)(null)).toBeUndefined()
  l.found(left('old'))
  expect(l.keep(undefined)(null)).toMatchObject({ work: 'old' })
  expect(l.take(undefined)).toBe('old')
  expect(l.offer).toBeNull()
  expect(l.keep('old')(null)).toMatchObject({ work: 'old', older: undefined })
})

test('leftover work and work begun meanwhile are both kept', () => {
  const l = new Leftover<string>()
  l.found(left('old'))
  const kept = l.keep('new')(null)!
  expect(kept).toMatchObject({ work: 'new', older: { work: 'old' } })
  // The next visit offers one piece of work, and then the other.
  const later = new Leftover<string>()
  later.found(kept)
  later.drop()
  expect(later.offer?.work).toBe('old')
  // Here the person takes the older work first. The page's own work is then offered.
  expect(l.take('new')).toBe('old')
  expect(l.take('old')).toBe('new')
})

test('two pieces of leftover work can be taken one after the other', () => {
  const l = new Leftover<string>()
  l.found(left('new', left('old')))
  expect(l.take(undefined)).toBe('new')
  expect(l.offer?.work).toBe('old')
  expect(l.keep('new')(null)).toMatchObject({ work: 'new', older: { work: 'old' } })
  expect(l.take('new')).toBe('old')
  expect(l.offer).toMatchObject({ work: 'new', older: undefined })
})

test('discarded work can be restored', () => {
  const l = new Leftover<string>()
  l.found(left('old'))
  const undo = l.drop()
  expect(l.keep(undefined)(null)).toBeUndefined()
  undo()
  expect(l.take(undefined)).toBe('old')
  expect(l.take(undefined)).toBeUndefined()
})

test('stored data in a different format is ignored', () => {
  const l = new Leftover<string>()
  l.found({ draft: 'x' } as never)
  expect(l.offer).toBeNull()
})

test('the work of another tab is kept, whatever this tab does', () => {
  const [one, two] = [new Leftover<string>(), new Leftover<string>()]
  let kept: Left<string> | undefined = left('Monday')
  for (const l of [one, two]) l.found(kept)
  one.take(undefined)
  kept = one.keep('Monday and Tuesday')(kept ?? null)
  kept = two.keep('other')(kept ?? null)
  expect(kept).toMatchObject({ work: 'other', older: { work: 'Monday', older: { work: 'Monday and Tuesday' } } })
  // The offered work is discarded, and the page's own work is saved.
  two.drop()
  kept = two.keep(undefined)(kept ?? null)
  expect(kept).toMatchObject({ work: 'Monday and Tuesday', older: undefined })
  // However often both tabs write, the store contains the work of each tab once.
  for (const n of [1, 2, 3]) {
    kept = one.keep(`one ${n}`)(kept ?? null)
    kept = two.keep(`two ${n}`)(kept ?? null)
  }
  expect(kept).toMatchObject({ work: 'two 3', older: { work: 'one 3', older: undefined } })
  // The next visit offers the work of both tabs, and the person can discard it.
  const next = new Leftover<string>()
  next.found(kept ?? null)
  next.drop()
  expect(next.offer?.work).toBe('one 3')
  next.drop()
  expect(next.keep(undefined)(kept ?? null)).toBeUndefined()
})

test('work that was saved in the meantime is not offered, and is removed', () => {
  const l = new Leftover<string>()
  const kept = left('saved', left('old'))
  l.found(kept, (work) => work === 'saved')
  expect(l.offer).toMatchObject({ work: 'old', older: undefined })
  expect(l.keep(undefined)(kept ?? null)).toMatchObject({ work: 'old', older: undefined })
})
