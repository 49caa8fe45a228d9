import { expect, test } from 'vitest'
import { sinceWhen } from './minutes'

test('sinceWhen returns the median arrival time at a step', () => {
  const people = new Map(['09:00', '09:02', '09:05', 'never'].map((t, i) => [String(i), { step_since: `2026-01-01T${t}:00Z` }]))
  const at = (...ids: string[]) =>
    sinceWhen(
      ids.map((id) => ({ id })),
      people,
    )
  expect(at('2', '0', '1')).toBe(Date.parse('2026-01-01T09:02:00Z'))
  expect(at('1', '0')).toBe(Date.parse('2026-01-01T09:00:00Z'))
  expect(at('3', '2', 'gone')).toBe(Date.parse('2026-01-01T09:05:00Z'))
  expect(at()).toBeNull()
})
