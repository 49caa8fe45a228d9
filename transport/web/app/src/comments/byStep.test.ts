import { expect, test } from 'vitest'
import type { Step, Thread } from '../workshop/state'
import { byStep, fresh, look } from './byStep'

const steps = [{ id: 's1' }, { id: 's2' }] as unknown as Step[]
const at = (minute: number) => `2026-01-01T10:0${minute}:00.000Z`

function thread(id: string, step: string | null, start: number, said: string, stale = false): Thread {
  // said contains the letter a for each comment of an attendee and f for each comment of a
  // facilitator, one minute apart.
  const messages = [...said].map((by, i) => ({ id: `${id}${i}`, author_role: by === 'f' ? 'admin' : 'attendee', created_at: at(i + 1) }))
  return { id, target_type: step === null ? 'guide' : 'step', target_step_id: step, start_offset: start, stale, messages } as unknown as Thread
}

test('threads are grouped by step, in the order of the text, with stale threads last', () => {
  const all = [thread('c', 's2', 9, 'a'), thread('b', 's2', 1, 'a', true), thread('a', 's2', 5, 'a'), thread('g', null, 0, 'a'), thread('x', 'gone', 0, 'a')]
  expect(byStep(all, steps).map((g) => [g.step?.id ?? 'guide', g.threads.map((t) => t.id).join('')])).toEqual([
    ['guide', 'g'],
    ['s2', 'acb'],
  ])
})

test("an attendee's comment is new until a facilitator has seen or answered it", () => {
  const cases: [said: string, seen: string | null, count: number][] = [
    ['a', null, 1],
    ['aa', null, 2],
    ['aa', at(1), 1],
    ['aa', at(2), 0],
    ['af', null, 0],
    ['afa', null, 1],
    ['afa', at(3), 0],
  ]
  for (const [said, seen, count] of cases) expect(fresh(thread('t', 's1', 0, said), seen === null ? {} : { t: seen }), `${said} ${seen}`).toBe(count)
})

test('looking at a thread stores the time, and removes the times of deleted threads', () => {
  const a = thread('a', 's1', 0, 'aa')
  const b = thread('b', 's1', 5, 'a')
  expect(look({ b: at(1), gone: at(1) }, [a, b], [a])).toEqual({ a: at(2), b: at(1) })
})
