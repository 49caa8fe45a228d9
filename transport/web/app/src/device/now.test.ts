import { expect, test } from 'vitest'
import { noteTime, serverNow } from './now'

test("waits are counted with the server's clock", () => {
  const here = Date.now()
  noteTime(new Date(here - 3_600_000).toISOString(), here)
  expect(Math.abs(serverNow() - (Date.now() - 3_600_000))).toBeLessThan(1000)
  noteTime('nonsense')
  expect(Math.abs(serverNow() - (Date.now() - 3_600_000))).toBeLessThan(1000)
  // What a message needs for its way is no wrong clock.
  noteTime(new Date(here - 3000).toISOString(), here)
  expect(Math.abs(serverNow() - Date.now())).toBeLessThan(1000)
  noteTime(new Date(here + 3001).toISOString(), here)
  expect(serverNow() - Date.now()).toBeGreaterThan(2000)
  noteTime(new Date(here).toISOString(), here)
})
