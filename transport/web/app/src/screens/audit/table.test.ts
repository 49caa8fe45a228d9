import { expect, test } from 'vitest'
import { parseCsv } from '../results/csv'
import { tableOf } from './table'

test('a record becomes a row with names, and no cell is a formula', () => {
  const record = {
    id: '1',
    action: 'attendee_rename',
    actor_type: 'admin' as const,
    actor_id: 'a',
    target_id: 'b',
    codelab_id: 'c',
    ip: '192.0.2.7',
    user_agent: 'x, "y"',
    metadata: { was: 'Ann' },
    created_at: '2026-03-02T09:15:30.250Z',
  }
  const names: Record<string, string> = { a: 'Lea', b: '=HYPERLINK(1)' }
  const words = { action: () => 'Renamed', name: (id: string | null) => names[id ?? ''], lab: () => 'Go' }
  const [head, row, ...more] = parseCsv(tableOf([record], words))
  expect(more).toEqual([])
  const got = Object.fromEntries(head!.map((h, i) => [h, row![i]]))
  expect(got).toMatchObject({ actor_name: 'Lea', target_name: "'=HYPERLINK(1)", codelab: 'Go', program: 'x, "y"', details: 'was: Ann', what: 'Renamed' })
})
