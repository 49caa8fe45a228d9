import { describe, expect, it } from 'vitest'
import { changed, clashes, fieldsOf, hoursOf, onTop, plannedHours, troubles, type Fields } from './fields'
import { changedOption, fromServer, movedQuestion, newQuestion, same, toServer, trouble, withSaved, type Question } from './questions'

const base: Fields = {
  title: 'Go',
  description: '',
  author: '',
  is_public: true,
  quiz_enabled: false,
  require_quiz: false,
  require_feedback: false,
  require_submission: false,
  require_checks: false,
  ai_enabled: true,
  questions: 'off',
  questions_anonymous: true,
  share_code: 'none',
  email_retention_days: 0,
  chat_retention_days: 0,
  organiser: '',
  hours: null,
  logo_url: null,
  accent: 'blue',
  certificate_text: '',
  seal: false,
}

describe('settings', () => {
  it('send only changed fields', () => {
    expect(changed(base, { ...base, title: ' Go ', is_public: false })).toEqual({ is_public: false })
    expect(changed(base, { ...base, share_code: 'start' })).toEqual({ share_code: 'start' })
  })
  it('have share_code "none" if the server does not send this field', () => {
    const { share_code, ...older } = base
    expect(share_code).toBe('none')
    expect(fieldsOf(older as never).share_code).toBe('none')
  })
  it('clash only in fields that both people changed', () => {
    const mine = { ...base, title: 'Mine', author: 'Same', is_public: false }
    const theirs = { ...base, title: 'Theirs', author: 'Same', ai_enabled: false }
    expect(clashes(base, mine, theirs)).toEqual(['title'])
    expect(onTop(base, mine, theirs)).toEqual({ ...base, title: 'Mine', author: 'Same', is_public: false, ai_enabled: false })
  })
  it('accept whole and half hours, or none', () => {
    for (const [text, hours, fine] of [
      ['', null, true],
      ['1.5', 1.5, true],
      [' 2,5 ', 2.5, true],
      ['0', 0, true],
      ['1000.5', 1000.5, false],
      ['1.25', 1.25, false],
      ['-1', NaN, false],
      ['an hour', NaN, false],
    ] as const) {
      expect(hoursOf(text)).toEqual(hours)
      expect(troubles({ ...base, hours: hoursOf(text) }).length).toBe(fine ? 0 : 1)
    }
    expect([0, 14, 15, 75, 85].map(plannedHours)).toEqual([0, 0, 0.5, 1.5, 1.5])
  })
  it('report which fields are invalid', () => {
    expect(troubles(base)).toEqual([])
    expect(troubles({ ...base, title: ' ', chat_retention_days: -1 })).toEqual([
      { name: 'title', kind: 'empty' },
      { name: 'chat_retention_days', kind: 'days' },
    ])
  })
})

describe('questions', () => {
  const q = (over: Partial<Question> = {}): Question => ({
    id: 'a',
    server: 'a',
    text: 'Which?',
    type: 'multiple_choice',
    options: [
      { id: '1', text: 'One', right: true },
      { id: '2', text: 'Two', right: false },
    ],
    ...over,
  })
  it('are sent with one right answer or several', () => {
    expect(toServer([q()])).toEqual([{ id: 'a', question: 'Which?', quiz_type: 'multiple_choice', options: ['One', 'Two'], correct_answer: 0 }])
    expect(toServer([changedOption(q(), '2', { right: true })])[0]).toMatchObject({ correct_answers: [0, 1] })
    expect(toServer([q({ type: 'descriptive', server: null })])).toEqual([{ question: 'Which?', quiz_type: 'descriptive' }])
  })
  it('are read back as they were sent', () => {
    const sent = [q(), changedOption(q({ id: 'b', server: 'b' }), '2', { right: true })]
    const got = sent.map((s, i) => ({
      ...toServer(sent)[i]!,
      codelab_id: 'c',
      several: false,
      created_at: '',
      correct_answer: toServer(sent)[i]!.correct_answer ?? 0,
      correct_answers: toServer(sent)[i]!.correct_answers ?? null,
    }))
    expect(same(fromServer(got as never), sent)).toBe(true)
  })
  it('report why they cannot be saved', () => {
    expect(trouble(q())).toBeNull()
    expect(trouble(newQuestion())).toBe('no_text')
    expect(trouble(q({ options: [] }))).toBe('few_options')
    expect(trouble(changedOption(q(), '2', { text: ' ' }))).toBe('empty_option')
    expect(trouble(changedOption(q(), '2', { text: 'One ' }))).toBe('twice')
    expect(trouble(changedOption(q(), '1', { right: false }))).toBe('none_right')
    expect(trouble(q({ type: 'descriptive', options: [] }))).toBeNull()
  })
  it('keep edits that were made during a save', () => {
    const sent = [q({ server: null }), q({ id: 'b', server: null })]
    const saved = [q({ id: 's1', server: 's1' }), q({ id: 's2', server: 's2' })]
    const added = newQuestion()
    const edited = { ...sent[1]!, text: 'Typed later?' }
    expect(withSaved([edited, sent[0]!, added], sent, saved)).toEqual([{ ...edited, server: 's2' }, saved[0], added])
    expect(withSaved([], sent, saved)).toEqual([])
  })
  it('move within the list', () => {
    const all = [q(), q({ id: 'b' })]
    expect(movedQuestion(all, 'a', 1).map((x) => x.id)).toEqual(['b', 'a'])
    expect(movedQuestion(all, 'a', -1)).toBe(all)
  })
})
