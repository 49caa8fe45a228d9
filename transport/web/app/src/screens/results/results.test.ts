import { describe, expect, test } from 'vitest'
import type { Schemas } from '../../api/client'
import { heat, reachedBy, readAttendance } from './attendance'
import { parseCsv } from './csv'
import { fair, run } from './draw'
import { distribution } from './feedback'
import { byQuestion, choice } from './quiz'
import type { Submission } from '../../workshop/state'
import { byPerson, isImage, isText } from './work'

test('CSV is parsed with quotes, commas and line ends in its cells', () => {
  expect(parseCsv('a,"b ""c"", d"\r\n"two\nlines",\r\n')).toEqual([
    ['a', 'b "c", d'],
    ['two\nlines', ''],
  ])
  expect(parseCsv('')).toEqual([])
  expect(parseCsv('\ufeffa\nb')).toEqual([['a'], ['b']])
})

describe('attendance', () => {
  const csv = [
    'attendee_id,name,email,registered_at,current_step,furthest_step,steps,is_completed,completed_at,step 1 reached_at: One,"step 2 reached_at: Two, and more"',
    'a,A,,2026-03-02T09:00:30.000Z,2,2,2,true,2026-03-02T09:14:00.000Z,2026-03-02T09:00:30.000Z,2026-03-02T09:07:00.000Z',
    'b,B,,2026-03-02T09:05:00.000Z,1,1,2,false,,2026-03-02T09:05:00.000Z,',
  ].join('\r\n')
  const people = readAttendance(csv)
  const at = (clock: string) => Date.parse(`2026-03-02T${clock}:00.000Z`)

  test('is read from CSV', () => {
    expect(people).toHaveLength(2)
    expect(people[0]).toMatchObject({ id: 'a', completed: at('09:14') })
    expect(people[1]).toMatchObject({ id: 'b', completed: null, reached: [at('09:05'), null] })
    expect(reachedBy(people, 2)).toEqual([2, 1])
  })

  test('is counted by step and time', () => {
    const h = heat(people, 2)
    expect(h.size).toBe(2 * 60_000)
    expect(h.columns[0]).toBe(at('09:00'))
    expect(h.columns.at(-1)).toBe(at('09:14'))
    expect(h.rows).toEqual([
      [1, 1, 2, 1, 1, 1, 1, 1],
      [0, 0, 0, 1, 1, 1, 1, 0],
      [0, 0, 0, 0, 0, 0, 0, 1],
    ])
  })

  test("has columns that begin at round hours in the reader's time zone", () => {
    const half = 30 * 60_000
    const long = people.map((p) => ({ ...p, reached: p.reached.map((t, i) => (t === null ? null : t + i * 12 * 3_600_000)) }))
    expect(((heat(long, 2, () => half).columns[0]! + half) / 3_600_000) % 1).toBe(0)
  })

  test('has no columns without people, and few columns for years', () => {
    expect(heat([], 3).columns).toEqual([])
    const years = heat([{ id: 'a', joined: 0, completed: null, reached: [at('09:00'), at('09:00') + 3 * 365 * 86_400_000] }], 2)
    expect(years.columns.length).toBeLessThanOrEqual(14)
    expect(years.rows[1]!.at(-1)).toBe(1)
  })
})

describe('quiz', () => {
  const quiz = (id: string, more: object) =>
    ({
      id,
      codelab_id: 'c',
      question: 'Q',
      quiz_type: 'multiple_choice',
      options: ['x', 'y', 'z'],
      several: false,
      correct_answer: 1,
      correct_answers: null,
      created_at: '',
      ...more,
    }) as Schemas['Quiz']
  const answer = (quiz_id: string, text: string, is_correct: boolean, created_at = '1', first = is_correct) =>
    ({
      id: text,
      codelab_id: 'c',
      attendee_id: 'a',
      attendee_name: 'A',
      quiz_id,
      answer: text,
      is_correct,
      created_at,
      attempts: first === is_correct ? 1 : 2,
      first_answer: '',
      first_correct: first,
    }) as Schemas['QuizSubmission']

  test('counts the right answers and the most common mistake', () => {
    const [one, several, free] = byQuestion(
      [quiz('1', {}), quiz('2', { several: true, correct_answers: [0, 1] }), quiz('3', { quiz_type: 'descriptive', options: [] })],
      [
        answer('1', '1', true, '1', false),
        answer('1', '2', false),
        answer('1', '2', false),
        answer('1', '0', false),
        answer('2', '[1,0]', true),
        answer('2', '[2,0]', false),
        answer('2', '[0,2]', false),
        answer('3', 'old', true, '1'),
        answer('3', 'new', true, '2'),
        answer('3', ' ', true, '3'),
      ],
    )
    expect(one).toMatchObject({ answers: 4, right: 1, rightFirst: 0, changed: 1, commonWrong: { chosen: [2], count: 2 } })
    expect(one!.options.map((o) => [o.count, o.right])).toEqual([
      [1, false],
      [1, true],
      [2, false],
    ])
    expect(several).toMatchObject({ right: 1, commonWrong: { chosen: [0, 2], count: 2 } })
    expect(free).toMatchObject({ right: null, rightFirst: null, answers: 2 })
    expect(free!.texts.map((t) => t.answer)).toEqual(['new', 'old'])
  })

  test('ignores invalid answers', () => {
    expect(choice('no', 3)).toEqual([])
    expect(choice('[2,2,7,-1,"1"]', 3)).toEqual([2])
    expect(choice('null', 3)).toEqual([])
  })
})

test('feedback is counted by grade', () => {
  expect(distribution(['5', '5', '2', '9', ''])).toEqual({ counts: [0, 1, 0, 0, 2], mean: 4 })
  expect(distribution([]).mean).toBeNull()
})

describe('a draw', () => {
  test('discards random values that would favour some people', () => {
    // 2^32 is not a multiple of 6, so the last four values must not count.
    const given = [2 ** 32 - 1, 2 ** 32 - 4, 2 ** 32 - 5]
    expect(fair(6, () => given.shift()!)).toBe((2 ** 32 - 5) % 6)
    expect(given).toEqual([])
    expect(fair(1)).toBe(0)
    expect(() => fair(0)).toThrow()
  })

  test('gives everybody the same chance', () => {
    const hits = [0, 0, 0, 0, 0, 0, 0]
    for (let i = 0; i < 14_000; i++) hits[fair(7)]!++
    for (const h of hits) expect(Math.abs(h - 2000)).toBeLessThan(300)
  })

  test('runs through the list, slower and slower, and ends at the winner', () => {
    for (const [winner, n] of [
      [0, 1],
      [3, 5],
      [4999, 5000],
    ] as const) {
      const shown = run(winner, n)
      expect(shown.at(-1)!.index).toBe(winner)
      expect(shown.every((s) => s.index >= 0 && s.index < n)).toBe(true)
      expect(shown.every((s, i) => i === 0 || s.stays >= shown[i - 1]!.stays)).toBe(true)
      expect(shown.reduce((sum, s) => sum + s.stays, 0)).toBeLessThan(6000)
    }
  })
})

test('work is grouped by person in natural order', () => {
  const one = (attendee_id: string, attendee_name: string, id: string) => ({ id, attendee_id, attendee_name }) as Submission
  expect(
    byPerson([one('b', 'Attendee 10', '1'), one('a', 'Attendee 2', '2'), one('b', 'Attendee 10', '3')]).map((p) => [p.name, p.things.map((t) => t.id)]),
  ).toEqual([
    ['Attendee 2', ['2']],
    ['Attendee 10', ['1', '3']],
  ])
  expect(isText('main.go') && isText('sub/Makefile') && !isText('a.zip') && isImage('A.PNG') && !isImage('a.svg')).toBe(true)
})
