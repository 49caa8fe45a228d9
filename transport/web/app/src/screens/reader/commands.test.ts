import { describe, expect, it } from 'vitest'
import { clone, report, switchTo } from './commands'

describe('commands for a shell', () => {
  it('are copied with the password and shown without it', () => {
    const got = clone({ url: 'https://w.example.org:8443/git/id', username: 'x', password: 'atp_a.b/c' })
    expect(got.text).toBe('git clone https://x:atp_a.b%2Fc@w.example.org:8443/git/id code')
    expect(got.shown).toBe('git clone https://x:••••••@w.example.org:8443/git/id code')
  })
  it('fetch before they switch', () => {
    expect(switchTo('step-2-start')).toBe('git stash -u\ngit fetch\ngit switch --detach origin/step-2-start')
  })
  it('report a check with the token, which is not shown', () => {
    const got = report({ url: 'https://w.example.org/api/check', token: 'atp_secret' }, 'build')
    expect(got.text).toContain('Bearer atp_secret')
    expect(got.text).toMatch(/ https:\/\/w\.example\.org\/api\/check\/build$/)
    expect(got.shown).not.toContain('secret')
  })
})
