// Computes the times of each person at each step, from the table that the server exports.
import { parseCsv } from './csv'

/** All times are in Unix milliseconds. */
export interface Times {
  /** The person's id. */
  readonly id: string
  readonly joined: number
  readonly completed: number | null
  /** The time at which the person first reached each step, or null if they never did. */
  readonly reached: readonly (number | null)[]
}

/** Parses attendance.csv, except the names, which contain escapes for spreadsheets. */
export function readAttendance(csv: string): Times[] {
  const [head = [], ...rows] = parseCsv(csv)
  const at = (name: string) => head.indexOf(name)
  const id = at('attendee_id')
  const joined = at('registered_at')
  const completed = at('completed_at')
  const first = head.findIndex((h) => /^'?step 1 reached_at/.test(h))
  const time = (text: string | undefined) => {
    const ms = Date.parse(text ?? '')
    return Number.isNaN(ms) ? null : ms
  }
  return rows
    .filter((r) => r.length >= first)
    .map((r) => ({ id: r[id] ?? '', joined: time(r[joined]) ?? 0, completed: time(r[completed]), reached: first < 0 ? [] : r.slice(first).map(time) }))
}

export interface Heat {
  /** The start of each column, in Unix milliseconds. */
  readonly columns: readonly number[]
  /** The duration of a column, in milliseconds. */
  readonly size: number
  /**
   * The number of people at each step at the end of each column. The last row counts people who
   * completed.
   */
  readonly rows: readonly (readonly number[])[]
}

const minute = 60_000
const sizes = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10_080, 20_160, 40_320].map((n) => n * minute)

/** The maximum number of columns. */
const most = 14

/**
 * Counts people by time and by the furthest step they had reached. offset is the local time minus
 * UTC in milliseconds, so that columns begin at round times in the reader's time zone.
 */
export function heat(people: readonly Times[], steps: number, offset: (ms: number) => number = () => 0): Heat {
  const marks = people.map((p) => course(p, steps))
  let from = Infinity
  let to = -Infinity
  for (const course of marks) {
    for (const [t] of course) {
      if (t < from) from = t
      if (t > to) to = t
    }
  }
  if (from > to) return { columns: [], size: 0, rows: [] }
  const start = (size: number) => Math.floor((from + offset(from)) / size) * size - offset(from)
  const wide = sizes.find((s) => Math.floor((to - start(s)) / s) < most) ?? Math.ceil((to - from + 1) / (most - 1) / sizes.at(-1)!) * sizes.at(-1)!
  const first = start(wide)
  const columns = Array.from({ length: Math.floor((to - first) / wide) + 1 }, (_, i) => first + i * wide)
  const rows = Array.from({ length: steps + 1 }, () => columns.map(() => 0))
  for (const course of marks) {
    let next = 0
    let row = -1
    columns.forEach((c, i) => {
      while (next < course.length && course[next]![0] < c + wide) row = Math.max(row, course[next++]![1])
      if (row >= 0) rows[row]![i]!++
    })
  }
  return { columns, size: wide, rows }
}

/** The progress of a person in order of time, as pairs of a time and a row. */
function course(p: Times, steps: number): [number, number][] {
  const all: [number, number][] = []
  p.reached.slice(0, steps).forEach((t, i) => {
    if (t !== null) all.push([t, i])
  })
  if (p.completed !== null) all.push([p.completed, steps])
  return all.sort((a, b) => a[0] - b[0])
}

/** The number of people who reached each step or a later one. */
export function reachedBy(people: readonly Times[], steps: number): number[] {
  const per = Array.from({ length: steps }, () => 0)
  for (const p of people) {
    let far = -1
    p.reached.forEach((t, i) => {
      if (t !== null) far = i
    })
    for (let i = 0; i <= far && i < steps; i++) per[i]!++
  }
  return per
}
