import { describe, expect, it } from 'vitest'
import type { Thread } from '../../workshop/state'
import { touched } from './comments'
import { compare, excerpt } from './lines'
import { differences, order, resolved, suggested } from './merge'
import { revision, learned, length, limits, moved, nearLimit, problem, problemOfSteps, same, toServer, type Script, type ScriptStep } from './script'

const step = (id: string, text = id, server: string | null = id): ScriptStep => ({ id, server, title: `Title ${id}`, minutes: 5, text })
const script = (...steps: (string | ScriptStep)[]): Script => ({ steps: steps.map((s) => (typeof s === 'string' ? step(s) : s)), guide: '' })
const keys = (s: Script) => s.steps.map((x) => x.server ?? x.id).join(' ')

describe('a script', () => {
  it('keeps the ids of known steps when it is sent', () => {
    expect(toServer(script('a', step('new:1', 'x', null))).map((s) => s.id)).toEqual(['a', undefined])
  })
  it('moves a step within the list only', () => {
    expect(keys(moved(script('a', 'b', 'c'), 'a', 2))).toBe('b c a')
    expect(keys(moved(script('a', 'b'), 'a', 2))).toBe('a b')
  })
  it('counts characters as the server does', () => {
    expect(length('a👍é')).toBe(3)
    expect(nearLimit('x'.repeat(100))).toBeNull()
    expect(nearLimit('👍'.repeat(limits.text * 0.9))).toBe(limits.text * 0.9)
    expect(nearLimit('👍'.repeat(limits.text * 0.6))).toBeNull()
  })
  it('reports why the server would refuse it', () => {
    expect(problemOfSteps(script('a'))).toBeNull()
    expect(problemOfSteps(script())).toEqual({ at: null, kind: 'no_steps' })
    expect(problemOfSteps(script('a', { ...step('b'), title: ' ' }))).toEqual({ at: 'b', kind: 'no_title' })
    expect(problemOfSteps(script({ ...step('a'), text: 'x'.repeat(50_001) }))).toEqual({ at: 'a', kind: 'long_text' })
    expect(problemOfSteps(script({ ...step('a'), minutes: 1.5 }))).toEqual({ at: 'a', kind: 'minutes' })
    expect(problem(script('a'), { ...script('a'), guide: 'x'.repeat(50_001) })).toEqual({ at: 'guide', kind: 'long_text' })
    expect(problem(script(), { ...script(), guide: 'x' })).toBeNull()
  })
  it('takes over the ids of new steps, even if it was edited meanwhile', () => {
    const sent = script('a', step('new:1', 'x', null), step('new:2', 'y', null))
    const saved = script('a', { ...step('s1', 'x'), title: 'Title new:1' }, { ...step('s2', 'y'), title: 'Title new:2' })
    const now = { ...sent, steps: sent.steps.map((s) => (s.id === 'new:2' ? { ...s, text: 'more' } : s)).reverse() }
    const out = learned(now, sent, saved)
    expect(keys(out)).toBe('s2 s1 a')
    expect(out.steps[0]!.text).toBe('more')
    expect(same(learned(sent, sent, saved), saved)).toBe(true)
  })
  it('reads the revision from an ETag', () => {
    expect(revision('"12.34"')).toBe('12')
    expect(revision('W/"12.34-gzip"')).toBe('12')
  })
})

describe('comments', () => {
  const thread = (target: string | null, stale = false) =>
    ({ id: `t${target}`, target_type: target === null ? 'guide' : 'step', target_step_id: target, stale }) as unknown as Thread
  it('become stale when the text changes, and are gone when the step is removed', () => {
    const base = script('a', 'b', 'c', 'd')
    const draft = { ...script('a', step('b', 'new'), 'd'), guide: 'new' }
    const out = touched(base, draft, [thread('a'), thread('b'), thread('b', true), thread('c', true), thread(null)])
    expect(out.map((t) => [t.thread.target_step_id, t.what])).toEqual([
      ['b', 'stale'],
      ['c', 'gone'],
      [null, 'stale'],
    ])
  })
  it('stay with a step that only moves or gets another title', () => {
    const base = script('a', 'b')
    expect(touched(base, script('b', { ...step('a'), title: 'Other' }), [thread('a'), thread('b')])).toEqual([])
  })
})

describe('the versions of two people', () => {
  const base = script('a', 'b', 'c')
  it('are compared by step, with the side that changed it', () => {
    const mine = script(step('a', 'mine'), 'b', step('c', 'mine'))
    const theirs = script('a', step('b', 'theirs'), step('c', 'theirs'))
    const all = differences(base, mine, theirs)
    expect(all.map((d) => [d.key, d.only])).toEqual([
      ['a', 'mine'],
      ['b', 'theirs'],
      ['c', null],
    ])
    const out = resolved(mine, theirs, all, { ...suggested(all), c: 'theirs' })
    expect(out.steps.map((s) => s.text)).toEqual(['mine', 'theirs', 'theirs'])
  })
  it('keep the steps that one of the sides added, in their places', () => {
    const mine = script('a', step('new:1', 'x', null), 'b', 'c')
    const theirs = script('a', 'b', 'n', 'c')
    const all = differences(base, mine, theirs)
    expect(keys(resolved(mine, theirs, all, suggested(all)))).toBe('a new:1 b n c')
  })
  it('drop a removed step, unless the other side changed it', () => {
    const mine = script('a', 'c')
    expect(keys(resolved(mine, base, differences(base, mine, base), { b: 'mine' }))).toBe('a c')
    const theirs = script('a', step('b', 'theirs'), 'c')
    const all = differences(base, mine, theirs)
    expect(all).toMatchObject([{ key: 'b', only: null }])
    expect(keys(resolved(mine, theirs, all, { b: 'theirs' }))).toBe('a b c')
    expect(keys(resolved(mine, theirs, all, { b: 'mine' }))).toBe('a c')
  })
  it('are merged in the order that one side changed', () => {
    const mine = script(step('a', 'mine'), 'b', 'c')
    const theirs = script('c', 'a', 'b')
    const all = differences(base, mine, theirs)
    expect(all.map((d) => [d.key, d.only])).toEqual([
      ['a', 'mine'],
      [order, 'theirs'],
    ])
    const out = resolved(mine, theirs, all, suggested(all))
    expect(keys(out)).toBe('c a b')
    expect(out.steps[1]!.text).toBe('mine')
  })
  it('do not differ where both sides made the same change', () => {
    expect(differences(base, theirsAndMine, theirsAndMine)).toEqual([])
  })
  const theirsAndMine = script('b', 'a')
})

describe('lines', () => {
  it('are marked with the side that has them', () => {
    expect(compare('a\nb\nc\nd', 'a\nx\nc\ny\nd')).toEqual([
      { text: 'a', only: null },
      { text: 'b', only: 'theirs' },
      { text: 'x', only: 'mine' },
      { text: 'c', only: null },
      { text: 'y', only: 'mine' },
      { text: 'd', only: null },
    ])
  })
  it('are left out when they are far from a change', () => {
    const long = Array.from({ length: 20 }, (_, i) => `line ${i}`)
    const lines = compare(long.join('\n'), [...long, 'end'].join('\n'))
    expect(excerpt(lines, 'mine').map((l) => l?.text)).toEqual([undefined, 'line 17', 'line 18', 'line 19', 'end'])
    expect(excerpt(lines, 'theirs').length).toBe(4)
  })
})
