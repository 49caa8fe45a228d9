import { expect, test, vi } from 'vitest'
import { announcer, announcing } from './announcer.svelte'

test('the first of many similar announcements is read out at once, and the rest are read out together', () => {
  vi.useFakeTimers()
  const said: string[] = []
  const ask = announcing<string>((names) => (said.push(names.join(' and ')), names.join(' and ')), 1000)
  ask('Ann')
  expect(announcer.polite).toBe('Ann')
  for (const name of ['Ben', 'Cem', 'Dee']) ask(name)
  vi.advanceTimersByTime(1000)
  vi.advanceTimersByTime(5000)
  ask('Eve')
  expect(said).toEqual(['Ann', 'Ben and Cem and Dee', 'Eve'])
  expect(announcer.urgent).toBe('')
  vi.useRealTimers()
})
