import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { audience, defaultThresholds, Floor, moods, steadyForm, verdict as judge, type Audience, type Thresholds } from './floor'
import { workshop, type Attendee, type Codelab, type HelpRequest, type Step, type Workshop } from './state'

const minute = 60_000
const at = (ms: number) => new Date(ms).toISOString()
const now = 100 * minute

function room(people: Partial<Attendee>[], help: Partial<HelpRequest>[] = []): Workshop {
  const steps = [1, 2, 3].map((n) => ({ id: `s${n}`, step_number: n, title: `S${n}` })) as unknown as Step[]
  const w = workshop('facilitator', { id: 'lab', pointer: null } as unknown as Codelab, steps)
  const all = people.map(
    (p, i) =>
      ({
        id: `p${i}`,
        name: `P${i}`,
        current_step: 1,
        furthest_step: p.current_step ?? 1,
        is_completed: false,
        pulse: null,
        code_taken: null,
        step_since: at(0),
        ...p,
      }) as Attendee,
  )
  return { ...w, people: new Map(all.map((a) => [a.id, a])), here: new Set(all.map((a) => a.id)), help: help as HelpRequest[] }
}

const floor = (w: Workshop) => new Floor().look(w)
const verdict = (w: Workshop, step: number, t: Thresholds, now: number) => judge(floor(w), w.help, step, t, now)

const feels = (state: 'fine' | 'slow' | 'stuck', minutesAgo: number) => ({ pulse: { state, step_number: 1, at: at(now - minutesAgo * minute) } })

describe('the floor', () => {
  test('lists stuck people first, then slow, fine and silent people; in each group, people who have been on the step longest come first', () => {
    const since = (n: number) => ({ step_since: at(n) })
    const w = room([feels('fine', 1), since(5), { ...feels('stuck', 4), ...since(3) }, feels('slow', 9), { ...feels('stuck', 1), ...since(2) }, since(1)])
    expect(floor(w)[0]!.seats.map((s) => s.id)).toEqual(['p4', 'p2', 'p3', 'p0', 'p5', 'p1'])
  })

  test('lists absent people as silent, unless they need help', () => {
    const w = room(
      [feels('fine', 1), feels('stuck', 1), {}, feels('slow', 1)],
      [{ attendee_id: 'p2', status: 'pending', created_at: at(now), message: 'Port 80' }],
    )
    const seats = floor({ ...w, here: new Set() })[0]!.seats
    expect(seats.map((s) => [s.id, s.kind])).toEqual([
      ['p2', 'need'],
      ['p1', 'need'],
      ['p0', 'silent'],
      ['p3', 'silent'],
    ])
    expect([seats[0]!.asked, seats[0]!.text, seats[1]!.asked]).toEqual([now, 'Port 80', 0])
    expect(moods(floor({ ...w, here: new Set() }))).toEqual({ stuck: 1, slow: 0, fine: 0, silent: 2, asks: 1, helped: 0 })
  })

  test('lists everybody once, with completed people at the end', () => {
    const w = room([{ current_step: 1 }, { current_step: 3 }, { current_step: 2, is_completed: true }, { current_step: 9 }])
    expect(floor(w).map((c) => [c.step, c.seats.length])).toEqual([
      [1, 1],
      [2, 0],
      [3, 2],
      [0, 1],
    ])
    expect(Object.values(moods(floor(w))).reduce((a, b) => a + b)).toBe(4)
  })

  test('marks people who ask for help and people who are absent', () => {
    const w = room([{}, {}], [{ attendee_id: 'p1', status: 'pending', created_at: at(now) }])
    const [a, b] = floor({ ...w, here: new Set(['p1']) })[0]!.seats
    expect([a, b].map((s) => [s!.id, s!.asks, s!.here])).toEqual([
      ['p1', true, true],
      ['p0', false, false],
    ])
  })

  test('marks people who took the code with which their step begins', () => {
    const taken = (name: string, current_step: number, is_completed = false) => ({ code_taken: { name, at: at(now) }, current_step, is_completed })
    const w = room([taken('step-2-start', 2), taken('step-1-end', 2), taken('step-2-end', 2), taken('step-1-start', 2), taken('step-3-start', 3, true), {}])
    const marked = floor(w).flatMap((c) => c.seats.filter((s) => s.caughtUp).map((s) => s.id))
    expect(marked).toEqual(['p0', 'p1'])
  })

  test('lists people with open requests first, the oldest request on top, then the others', () => {
    const asked = (id: string, minutesAgo: number, by?: string): Partial<HelpRequest> => ({
      id: `h-${id}`,
      attendee_id: id,
      status: by === undefined ? 'pending' : 'in_progress',
      claimed_by: by ?? null,
      created_at: at(now - minutesAgo * minute),
    })
    const w = room(
      [feels('stuck', 2), {}, feels('slow', 50), {}, feels('fine', 60), {}],
      [asked('p5', 3), asked('p1', 1), asked('p3', 9, 'Grace'), asked('p0', 90)],
    )
    expect(floor(w)[0]!.seats.map((s) => [s.id, s.asks, s.helper])).toEqual([
      ['p0', true, null],
      ['p3', false, 'Grace'],
      ['p5', true, null],
      ['p1', true, null],
      ['p2', false, null],
      ['p4', false, null],
    ])
    expect(moods(floor(w))).toEqual({ stuck: 1, slow: 1, fine: 1, silent: 0, asks: 3, helped: 1 })
  })

  test('shows at once that a request is claimed, passed on or resolved', () => {
    const watched = new Floor()
    const w = room([{}, {}], [{ attendee_id: 'p1', status: 'pending', claimed_by: null, created_at: at(now) }])
    const seen = (w: Workshop) => watched.look(w)[0]!.seats.map((s) => [s.id, s.asks, s.helper])
    expect(seen(w)).toEqual([
      ['p1', true, null],
      ['p0', false, null],
    ])
    expect(seen({ ...w, help: w.help.map((h) => ({ ...h, status: 'in_progress', claimed_by: 'Grace' })) })).toEqual([
      ['p1', false, 'Grace'],
      ['p0', false, null],
    ])
    expect(seen({ ...w, help: w.help.map((h) => ({ ...h, status: 'in_progress', claimed_by: 'Alan' })) })).toEqual([
      ['p1', false, 'Alan'],
      ['p0', false, null],
    ])
    expect(seen({ ...w, help: [] })).toEqual([
      ['p0', false, null],
      ['p1', false, null],
    ])
  })

  test('selects the recipients of a message to many people', () => {
    const w = room(
      [feels('stuck', 2), {}, { current_step: 2, ...feels('stuck', 1) }, { is_completed: true, current_step: 1 }],
      [
        { attendee_id: 'p1', status: 'pending', created_at: at(now) },
        { attendee_id: 'p2', status: 'in_progress', claimed_by: 'Grace', created_at: at(now) },
      ],
    )
    const to = (a: Audience) => audience(floor(w), a).map((s) => s.id)
    expect(to({ to: 'stuck' })).toEqual(['p0', 'p2'])
    expect(to({ to: 'waiting' })).toEqual(['p1'])
    expect(to({ to: 'step', step: 1 })).toEqual(['p1', 'p0'])
    expect(to({ to: 'step', step: 3 })).toEqual([])
  })

  // After any events between two updates, the result equals a newly built floor.
  const person = fc.record({
    id: fc.integer({ min: 0, max: 30 }).map((n) => `p${n}`),
    current_step: fc.integer({ min: 0, max: 5 }),
    is_completed: fc.boolean(),
    step_since: fc.integer({ min: 0, max: 3 }).map(at),
    pulse: fc.option(fc.record({ state: fc.constantFrom('fine', 'slow', 'stuck'), step_number: fc.constant(1), at: fc.integer({ min: 0, max: 3 }).map(at) })),
    here: fc.boolean(),
    asks: fc.boolean(),
    helped: fc.constantFrom(null, 'Grace', 'Alan'),
  })
  const happening = fc.record({
    come: fc.array(person, { maxLength: 6 }),
    go: fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 3 }),
    steps: fc.option(fc.integer({ min: 0, max: 4 }), { freq: 6 }),
  })
  test('is the same after updates as when it is built from the state', () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 12 }), (happenings) => {
        const watched = new Floor()
        let w = room([])
        for (const { come, go, steps } of happenings) {
          const people = new Map(w.people)
          const here = new Set(w.here)
          let help = w.help
          for (const { here: isHere, asks, helped, ...p } of come) {
            people.set(p.id, { ...p, name: p.id, furthest_step: 1, code_taken: null } as unknown as Attendee)
            if (isHere) here.add(p.id)
            else here.delete(p.id)
            help = help.filter((h) => h.attendee_id !== p.id)
            if (asks)
              help = [...help, { attendee_id: p.id, status: helped ? 'in_progress' : 'pending', claimed_by: helped, created_at: at(now) } as HelpRequest]
          }
          for (const n of go) people.delete(`p${n}`)
          w = {
            ...w,
            people,
            here,
            help,
            steps: steps === null ? w.steps : (Array.from({ length: steps }, (_, i) => ({ step_number: i + 1, title: `T${i}` })) as unknown as Step[]),
          }
          expect(watched.look(w)).toEqual(floor(w))
        }
      }),
    )
  })

  test('keeps unchanged columns as the same objects, even in a crowd', () => {
    const w = room(Array.from({ length: 3000 }, (_, i) => ({ current_step: 1 + (i % 2), step_since: at(i % 7) })))
    const watched = new Floor()
    const [one, two] = watched.look(w)
    const moved = { ...w, people: new Map(w.people).set('p1', { ...w.people.get('p1')!, ...feels('stuck', 1) } as Attendee) }
    const [oneAgain, twoAgain] = watched.look(moved)
    expect(oneAgain).toBe(one)
    expect(twoAgain).not.toBe(two)
    expect(twoAgain!.seats[0]!.id).toBe('p1')
    expect([oneAgain, twoAgain].map((c) => c!.seats)).toEqual(
      floor(moved)
        .slice(0, 2)
        .map((c) => c.seats),
    )
  })
})

describe('the verdict on moving on', () => {
  const moved = { current_step: 2 }
  test('is "go" when enough people are past the step', () => {
    expect(verdict(room([moved, moved, moved, {}]), 1, defaultThresholds, now)).toMatchObject({ form: 'go', past: 3, people: 4 })
    expect(verdict(room([moved, moved, {}, {}]), 1, defaultThresholds, now)).toMatchObject({ form: 'wait', past: 2, people: 4 })
    expect(verdict(room([]), 1, defaultThresholds, now).form).toBe('ready')
  })

  test('contains the number and longest wait of requests, and the step where most people need help', () => {
    const asked = (id: string, minutes: number, status = 'pending') =>
      ({ attendee_id: id, status, created_at: at(now - minutes * minute) }) as Partial<HelpRequest>
    const w = room([feels('stuck', 1), moved, moved, moved, moved], [asked('p1', 3), asked('p2', 4), asked('p3', 9, 'in_progress'), asked('p4', 1)])
    expect(verdict(w, 1, defaultThresholds, now)).toMatchObject({ waiting: 3, longest: 240, where: 2 })
    expect(verdict({ ...w, help: w.help.slice(1) }, 1, defaultThresholds, now)).toMatchObject({ waiting: 2, where: null })
    expect(verdict(room([moved]), 1, defaultThresholds, now)).toMatchObject({ waiting: 0, longest: null, where: null })
  })

  test.each([
    [null, 'go', 0, 'go'],
    ['wait', 'go', 19, 'wait'],
    ['wait', 'go', 20, 'go'],
    ['go', 'help', 0, 'help'],
    ['help', 'wait', 5, 'help'],
    ['ready', 'wait', 0, 'wait'],
  ] as const)('a shown "%s" that should be "%s" for %i s becomes "%s"', (shown, now, seconds, is) => {
    expect(steadyForm(shown, now, seconds)).toBe(is)
  })

  test('is "help" when somebody has waited too long', () => {
    expect(verdict(room([moved, moved, moved, feels('stuck', 6)]), 1, defaultThresholds, now)).toMatchObject({ form: 'help', stuck: 1, oldest: 360 })
    expect(verdict(room([moved, moved, moved, feels('stuck', 1)]), 1, defaultThresholds, now).form).toBe('go')
    const asked = (status: 'pending' | 'in_progress') => room([moved], [{ attendee_id: 'p0', status, created_at: at(now - 6 * minute) }])
    expect(verdict(asked('pending'), 1, defaultThresholds, now).form).toBe('help')
    expect(verdict(asked('in_progress'), 1, defaultThresholds, now).form).toBe('go')
  })

  test('counts an absent person only if they had begun, and only for a while', () => {
    const w = room([moved, {}, { current_step: 1, furthest_step: 2 }])
    const later = (minutes: number) => verdict({ ...w, here: new Set(['p0']) }, 1, defaultThresholds, minutes * minute)
    expect(later(14)).toMatchObject({ past: 1, people: 2 })
    expect(later(16)).toMatchObject({ past: 1, people: 1 }) // by now the absent person is no longer counted
  })

  test("uses the facilitator's thresholds", () => {
    const w = room([moved, {}])
    expect(verdict(w, 1, { past: 0.5, waiting: 300 }, now).form).toBe('go')
    expect(verdict(w, 1, { past: 0.6, waiting: 300 }, now).form).toBe('wait')
  })

  test('counts completed people as past every step, even if absent, and people with a pulse as begun', () => {
    const done = { is_completed: true, current_step: 3, furthest_step: 1 }
    expect(verdict(room([done, {}]), 3, defaultThresholds, now)).toMatchObject({ past: 1, people: 2 })
    const away = (p: Partial<Attendee>) => ({ ...room([p, {}]), here: new Set(['p1']) })
    expect(verdict(away(done), 1, defaultThresholds, now)).toMatchObject({ past: 1, people: 2 })
    expect(verdict(away(feels('slow', 1)), 1, defaultThresholds, now)).toMatchObject({ past: 0, people: 2 })
    expect([done, feels('slow', 1), { furthest_step: 2 }, {}].map((p) => floor(room([p])).flatMap((c) => c.seats)[0]!.began)).toEqual([true, true, true, false])
  })

  test('is "help" from the exact second of the threshold, and has no negative wait', () => {
    expect(verdict(room([moved, moved, moved, feels('stuck', 5)]), 1, defaultThresholds, now)).toMatchObject({ form: 'help', oldest: 300 })
    expect(verdict(room([feels('stuck', -1)]), 1, defaultThresholds, now).oldest).toBe(0)
  })
})
