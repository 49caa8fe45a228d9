import { describe, expect, it } from 'vitest'
import { filtered, sameTitle, stateOf } from './shelf'

describe('the state of a codelab', () => {
  it('is "ended" rather than "closed" when both apply', () => {
    expect(stateOf({ ended_at: '2026-03-02T09:15:30.250Z', registration_open: false })).toBe('ended')
    expect(stateOf({ ended_at: null, registration_open: false })).toBe('closed')
    expect(stateOf({ ended_at: null, registration_open: true })).toBe('open')
  })
})

describe('the filter', () => {
  const labs = [
    { title: 'Go für alle', author: 'Attendee 1' },
    { title: 'Rust', author: '' },
  ]
  it('requires all words, in any order and field', () => {
    expect(filtered(labs, 'attendee GO')).toEqual([labs[0]])
    expect(filtered(labs, 'go rust')).toEqual([])
  })
  it('keeps every codelab if it contains no words', () => {
    expect(filtered(labs, '  ')).toBe(labs)
  })
  it('matches a letter however it is composed', () => {
    expect(filtered(labs, 'fu\u0308r')).toEqual([labs[0]])
  })
})

describe('a typed title', () => {
  it('can differ in case and white space', () => {
    expect(sameTitle(' go  FÜR alle', 'Go für alle')).toBe(true)
    expect(sameTitle('Go', 'Go für alle')).toBe(false)
    expect(sameTitle('', 'Go')).toBe(false)
  })
})
