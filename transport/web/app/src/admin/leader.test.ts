import { describe, expect, it } from 'vitest'
import type { Schemas } from '../api/client'
import { leader, opens } from './leader.svelte'

const session = (role: Schemas['Session']['role'], rank?: Schemas['Session']['rank']): Schemas['Session'] => ({
  sub: 'x',
  role,
  ...(rank ? { rank } : {}),
  codelab_id: null,
  exp: 0,
})

describe('the pages that a session is allowed to open', () => {
  it('are all pages for facilitators', () => {
    for (const path of ['/admin', '/admin/settings', '/admin/1/edit', '/account']) expect(opens(session('admin', 'facilitator'), path)).toBe(true)
    expect(leader.assists).toBe(false)
  })
  it('are the list, live views, projectors and the account for assistants', () => {
    for (const path of ['/admin', '/admin/1', '/admin/1/', '/admin/1/projector', '/account']) expect(opens(session('assistant', 'assistant'), path)).toBe(true)
    for (const path of [
      '/admin/settings',
      '/admin/people',
      '/admin/audit-logs',
      '/admin/participants',
      '/admin/1/edit',
      '/admin/1/results',
      '/admin/1/settings',
    ])
      expect(opens(session('assistant', 'assistant'), path)).toBe(false)
    expect(leader.assists).toBe(true)
  })
  it('are none for attendees', () => {
    expect(opens(session('attendee'), '/admin')).toBe(false)
  })
  it("are the owner's pages for sessions without a rank", () => {
    expect(opens(session('admin'), '/admin/settings')).toBe(true)
    expect(leader.rank).toBe('owner')
  })
})
