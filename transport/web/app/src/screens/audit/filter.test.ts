import { expect, test } from 'vitest'
import { anything, append, fits, type Entry } from './filter'

const entry = (more: Partial<Entry>): Entry => ({
  id: '1',
  action: 'codelab_update',
  actor_type: 'admin',
  actor_id: 'admin',
  target_id: null,
  codelab_id: null,
  ip: '192.0.2.7',
  user_agent: 'curl/8.5.0',
  metadata: { title: 'A Service' },
  created_at: '',
  ...more,
})

test('a record matches the filter when every condition matches', () => {
  expect(fits(entry({}), anything)).toBe(true)
  expect(fits(entry({}), { ...anything, actor: 'attendee' })).toBe(false)
  expect(fits(entry({}), { ...anything, text: 'service CURL' })).toBe(true)
  expect(fits(entry({}), { ...anything, text: 'service wget' })).toBe(false)
  expect(fits(entry({}), { ...anything, text: 'changed' }, () => 'Codelab changed')).toBe(true)
})

test('a record that is loaded twice is listed once', () => {
  expect(append([entry({ id: '3' }), entry({ id: '2' })], [entry({ id: '2' }), entry({ id: '1' })]).map((r) => r.id)).toEqual(['3', '2', '1'])
})
