import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { crowded, deal, levels, linesOf, Planner, sizes, type Figure, type Layout, type StepOf } from './layout'

interface One extends Figure {
  id: string
  place: string
}

/** A font in which the width of each letter is a fixed share of the font size. */
const setting = {
  measure: (text: string, size: number, weight: number) => text.length * size * (weight >= 600 ? 0.58 : 0.53),
  state: (p: One) => [p.kind === 'need' ? '■ stuck' : '', p.place].filter(Boolean).join(' · '),
  aside: () => 52,
  rowSides: 46,
}
const planner = () => new Planner<One>(setting)

const order = { need: 0, slow: 1, fine: 2, silent: 3 }
let made = 0
const one = (kind: One['kind'], more: Partial<One> = {}): One => ({ id: `p${made++}`, name: 'Hannah Müller', kind, asked: 0, text: '', place: '', ...more })
const asks = (text: string, more: Partial<One> = {}) => one('need', { asked: 1, text, place: 'Row 2, seat 1', ...more })
const several = (kind: One['kind'], count: number) => Array.from({ length: count }, () => one(kind))

const titles = [
  'Set up',
  'A channel is a queue',
  'Workers',
  'How long do they wait?',
  'Retry',
  'Keep it on disk',
  'An HTTP door',
  'Shut down without losing anything',
  'Done',
]
const steps = (people: readonly One[][]): StepOf<One>[] => titles.map((title, i) => ({ key: String(i + 1), title, people: people[i] ?? [] }))

const shown = (l: Layout) =>
  `level ${l.level}, ${l.groups.map((g) => g.form + ' ' + g.steps.map((i) => i + 1).join('.') + (g.subs > 1 ? ` x${g.subs}` : '')).join(', ')}`
const laptop = { width: 962, height: 497, previous: null }

/** People spread over the steps. */
const spread = steps([
  several('silent', 1),
  [asks('all goroutines are asleep - deadlock!'), ...several('fine', 1), ...several('silent', 1)],
  [asks('Port 8081 is taken'), ...several('slow', 1), ...several('fine', 3), ...several('silent', 1)],
  [asks('go: cannot find module providing package example.com/queue'), ...several('slow', 2), ...several('fine', 5), ...several('silent', 1)],
  [asks('My table looks different, is that right?'), ...several('slow', 1), ...several('fine', 5), ...several('silent', 1)],
  several('fine', 4),
  several('fine', 2),
  several('fine', 1),
])

/** A room with nearly all people on one step. */
const crowdOnOne = steps([
  several('silent', 1),
  [],
  [],
  [],
  [one('need'), ...several('slow', 1), ...several('silent', 1)],
  [
    ...Array.from({ length: 11 }, () => asks('The file is empty after kill -9')),
    one('need'),
    ...several('slow', 3),
    ...several('fine', 9),
    ...several('silent', 3),
  ],
  [],
  several('fine', 1),
])

/** Thousands of people around one step, with a realistic share of people who need help. */
function thousands(count: number): StepOf<One>[] {
  const shares = [0.01, 0.02, 0.05, 0.09, 0.19, 0.42, 0.16, 0.05, 0.01]
  const kind = (i: number) => (i % 33 === 0 ? asks('Tests hang') : one(i % 11 === 0 ? 'slow' : i % 2 === 0 ? 'fine' : 'silent'))
  return steps(shares.map((share) => Array.from({ length: Math.round(count * share) }, (_, i) => kind(i)).sort((a, b) => order[a.kind] - order[b.kind])))
}

describe('on a laptop', () => {
  test.each([
    ['steps with few people share columns, and all people have their names', spread, 'level 0, stack 1.2, own 3, own 4, own 5, stack 6.7.8.9'],
    ['a crowded step is split into sub-columns, and the other steps share columns', crowdOnOne, 'level 3, stack 1.2.3.4.5, own 6 x3, stack 7.8.9'],
    ['thousands of people are shown as cells', thousands(3000), 'level 8, stack 1.2.3, stack 4.5, own 6, stack 7.8.9'],
    ['without people, all steps are one strip', steps([]), 'level 0, strip 1.2.3.4.5.6.7.8.9'],
  ])('%s', (_, of, want) => {
    expect(shown(planner().plan({ ...laptop, steps: of }))).toBe(want)
  })

  test('all cells of ten thousand people fit', () => {
    const l = planner().plan({ ...laptop, steps: thousands(10_000) })
    expect([l.level, l.cell >= 3, l.scrolls, l.narrow]).toEqual([crowded, true, false, false])
  })
})

test.each([
  ['a narrow page has one column of all steps', 559, 700, { narrow: true, scrolls: true, unit: 559, level: 2 }],
  ['a low page scrolls, with a floor that is high enough', 962, 120, { narrow: false, scrolls: true }],
])('%s', (_, width, height, want) => {
  const l = planner().plan({ width, height, steps: spread, previous: null })
  expect(l).toMatchObject(want)
  if (l.narrow) expect(l.groups).toEqual([{ form: 'stack', steps: [0, 1, 2, 3, 4, 5, 6, 7, 8], subs: 1 }])
})

const figure = fc.record({
  kind: fc.constantFrom<One['kind'][]>('need', 'slow', 'fine', 'silent'),
  name: fc.string({ minLength: 1, maxLength: 40 }),
  asked: fc.boolean(),
  text: fc.string({ maxLength: 120 }),
  place: fc.string({ maxLength: 30 }),
})
const somebody = figure.map(({ asked, ...p }) => one(p.kind, { ...p, asked: p.kind === 'need' && asked ? 1 : 0 }))
const people = fc
  .array(fc.array(somebody, { maxLength: 14 }), { minLength: 1, maxLength: 12 })
  .map((all) => all.map((list, i) => ({ key: String(i + 1), title: `Step ${i + 1}`, people: list })))
const box = fc.record({ width: fc.integer({ min: 200, max: 2600 }), height: fc.integer({ min: 100, max: 1400 }) })

describe('for any people and any size of the floor,', () => {
  test('every step is shown once, in order, and within the width', () => {
    fc.assert(
      fc.property(people, box, (of, { width, height }) => {
        const l = planner().plan({ width, height, steps: of, previous: null })
        expect(l.groups.flatMap((g) => g.steps)).toEqual(of.map((_, i) => i))
        const used =
          l.groups.reduce((sum, g) => sum + (g.form === 'strip' ? sizes.strip : g.subs * l.unit + (g.subs - 1) * sizes.gap), 0) +
          (l.groups.length - 1) * sizes.gap
        expect(used).toBeLessThanOrEqual(width)
        for (const g of l.groups) if (g.form === 'strip') expect(g.steps.every((i) => of[i]!.people.length === 0)).toBe(true)
        if (!l.narrow) expect(l.unit).toBeGreaterThanOrEqual(sizes.unit)
      }),
    )
  })

  test('everybody fits on the floor, and the same people get the same layout', () => {
    fc.assert(
      fc.property(people, box, (of, { width, height }) => {
        const mine = planner()
        const l = mine.plan({ width, height, steps: of, previous: null })
        expect(mine.fits(l, width, height, of)).toBe(true)
        expect(planner().plan({ width, height, steps: of, previous: null })).toEqual(l)
        expect(mine.plan({ width, height, steps: of, previous: l })).toEqual(l)
      }),
    )
  })

  test('more people on a full step do not fit, and get a denser level', () => {
    const mine = planner()
    const l = mine.plan({ ...laptop, steps: crowdOnOne })
    const more = crowdOnOne.map((s, i) => (i === 5 ? { ...s, people: [...several('slow', 40), ...s.people] } : s))
    expect(mine.fits(l, laptop.width, laptop.height, more)).toBe(false)
    expect(mine.plan({ ...laptop, steps: more, previous: l }).level).toBeGreaterThan(l.level)
  })
})

/** How often groups and levels change while people move, with or without the previous layout. */
function changes(count: number, width: number, height: number, keeps: boolean): number {
  let seed = 3
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647
  const kinds = ['fine', 'slow', 'need', 'silent'] as const
  const all = Array.from({ length: count }, () => ({ step: Math.floor(random() * 7), kind: kinds[Math.floor(random() * 4)]! }))
  const mine = planner()
  let previous: Layout | null = null
  let changed = 0
  for (let i = 0; i < 200; i++) {
    const p = all[Math.floor(random() * count)]!
    if (random() < 0.6) p.step = Math.min(8, p.step + 1)
    else p.kind = kinds[Math.floor(random() * 4)]!
    if (i % 60 === 59) for (const q of all) if (q.step > 5) q.step = 1 + Math.floor(random() * 4)
    const of = steps(
      titles.map((_, at) =>
        all
          .filter((q) => q.step === at)
          .sort((a, b) => order[a.kind] - order[b.kind])
          .map((q) => one(q.kind)),
      ),
    )
    const now: Layout = mine.plan({ width, height, steps: of, previous: keeps ? previous : null })
    if (previous && (now.level !== previous.level || JSON.stringify(now.groups) !== JSON.stringify(previous.groups))) changed++
    previous = now
  }
  return changed
}

test.each([
  [34, 962, 497],
  [120, 1460, 800],
])('with %i moving people, the groups mostly stay', (count, width, height) => {
  const [kept, free] = [changes(count, width, height, true), changes(count, width, height, false)]
  expect(kept).toBeLessThan(free * 0.7)
  expect(kept).toBeLessThan(50)
})

test('a roomier level returns only when it leaves spare space', () => {
  const mine = planner()
  const of = (fine: number) => steps([several('fine', fine)])
  const fits = (height: number, fine: number, previous: Layout | null = null) => mine.plan({ width: 600, height, steps: of(fine), previous })
  const most = Array.from({ length: 60 }, (_, i) => i + 1).findLast((n) => fits(400, n).level === 0)!
  const dense = fits(400, most + 1)
  expect(dense.level).toBeGreaterThan(0)
  expect(fits(400, most, dense).level).toBeGreaterThan(0)
  expect(fits(400, Math.floor(most * 0.85), dense).level).toBe(0)
})

describe('a text', () => {
  const width = (t: string) => t.length * 10
  test.each([
    ['fits', 'abc def', 70, 1],
    ['breaks between words', 'abc def', 60, 2],
    ['has as many words in a line as fit', 'aa bb cc dd', 50, 2],
    ['breaks within a word that is longer than a line', 'abcdefghij', 40, 3],
    ['continues after such a word', 'abcdefghij k', 40, 3],
  ])('that %s', (_, text, box, lines) => expect(linesOf(text, width, box)).toBe(lines))
})

describe('sub-columns', () => {
  const who = (ids: string) => [...ids].map((id) => ({ id }))
  const ids = (subs: { id: string }[][]) => subs.map((s) => s.map((p) => p.id).join(''))
  test('are filled from the shortest one, in the order of the people', () => {
    expect(ids(deal(who('abcde'), 2, (p) => (p.id === 'a' ? 5 : 2)))).toEqual(['ae', 'bcd'])
  })
  test('keep their people; new people go to the shortest sub-column, at their place in the order', () => {
    const before = new Map([
      ['a', 1],
      ['b', 1],
      ['d', 0],
      ['gone', 0],
    ])
    expect(ids(deal(who('acbd'), 2, () => 1, before))).toEqual(['cd', 'ab'])
  })
  test('that no longer exist give their people to the others', () => {
    expect(ids(deal(who('ab'), 1, () => 1, new Map([['a', 3]])))).toEqual(['ab'])
  })
  test('contain everybody once', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3 })),
        fc.integer({ min: 1, max: 5 }),
        fc.dictionary(fc.string({ maxLength: 3 }), fc.nat(6)),
        (all, subs, before) => {
          const out = deal(
            all.map((id) => ({ id })),
            subs,
            () => 1,
            new Map(Object.entries(before)),
          )
          expect(
            out
              .flat()
              .map((p) => p.id)
              .sort(),
          ).toEqual([...all].sort())
        },
      ),
    )
  })
})

test('the text gets no larger from the first level to the last', () => {
  expect(levels.every((l, i) => i === 0 || l.text <= levels[i - 1]!.text)).toBe(true)
})
