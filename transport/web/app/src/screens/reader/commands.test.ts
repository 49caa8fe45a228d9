import { describe, expect, it } from 'vitest'
import { clone, switchTo } from './gitCommands'

describe('commands of Git', () => {
  it('are copied with the password and shown without', () => {
    const got = clone({ url: 'https://w.example.org:8443/git/id', username: 'x', password: 'atp_a.b/c' })
    expect(got.text).toBe('git clone https://x:atp_a.b%2Fc@w.example.org:8443/git/id code')
    expect(got.shown).toBe('git clone https://x:••••••@w.example.org:8443/git/id code')
  })
  it('fetch before they switch', () => {
    expect(switchTo('step-2-start')).toBe('git fetch && git switch step-2-start')
  })
})
