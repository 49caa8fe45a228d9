import { expect, test } from 'vitest'
import { forget, unsent, unsentHere } from './person'
import { remember } from './remember'

function device(entries: Record<string, unknown>) {
  const map = new Map(Object.entries(entries).map(([k, v]) => [`atelier:${k}`, JSON.stringify(v)]))
  return {
    map,
    get length() {
      return map.size
    },
    key: (i: number) => [...map.keys()][i] ?? null,
    getItem: (k: string) => map.get(k) ?? null,
    removeItem: (k: string) => void map.delete(k),
  }
}

const said = (at: number, message: object) => ({ ref: `r${at}`, at, message, sent: null, refused: null })
const kept = {
  'out:lab:a1:r2': said(2, { type: 'chat', message: 'second' }),
  'out:lab:a1:r1': said(1, { type: 'dm', message: 'first', target_id: 'a2' }),
  'out:lab:a1:r3': said(3, { type: 'pulse', state: 'stuck' }),
  'draft:chat:lab': 'half a thou',
  'draft:dm:lab:a2': 'to one',
  'draft:feedback:lab': { difficulty: '2', satisfaction: '', comment: 'More' },
  'draft:quiz:lab': { q1: '[0,2]', q2: 'Because', q3: '1', q4: '' },
  'quiz:lab:a1': { q5: 'sent' },
  'draft:dm:lab:a3': '42',
  'draft:question:lab': 'Is this a stupid question?',
  'draft:question:lab:unnamed': true,
  'draft:ballot:lab': { of: 'p:1', vote: { words: ['of a', ''] } },
  'reading:lab': { at: 2 },
  'ticks:lab': { me: 'a1', done: ['s x'] },
  'me:lab': 'a1',
}
const others = {
  'out:lab:a2:r9': said(9, { type: 'chat', message: 'of another person' }),
  'out:lab2:a1:r9': said(9, { type: 'chat', message: 'in another codelab' }),
  'draft:chat:lab2': 'there',
  'hints:lab': ['of a facilitator on the same device'],
  theme: 'dark',
}

test('unsent contains all unsent texts, messages oldest first, and no numeric choices', () => {
  expect(unsent('lab', 'a1', device({ ...kept, ...others }))).toEqual([
    'first',
    'second',
    'half a thou',
    'to one',
    'More',
    'Because',
    '42',
    'Is this a stupid question?',
    'of a',
  ])
  expect(unsent('lab', 'a1', device({ 'draft:chat:lab': 7 }))).toEqual([])
})

test('a sign-out would lose the unsent texts of everybody, and forms count once', () => {
  const forms = {
    'draft:poll:lab': { question: 'Coffee?', options: ['yes', 'no'] },
    'draft:new-codelab': 'A title',
    'draft:settings:lab': { work: { title: '' } },
    'draft:long:edit:lab': { at: 1, value: 'counted elsewhere' },
  }
  const others = { 'draft:chat:lab': 'half a thou', 'out:lab:a1:r1': said(1, { type: 'chat', message: 'first' }), 'reading:lab': { at: 'x' } }
  const d = device({ ...forms, ...others })
  d.map.set('atelier:draft:dm:lab', 'not JSON')
  expect(unsentHere(d)).toHaveLength(4)
})

test('forget removes only the data of one person in one codelab', () => {
  const d = device({ ...kept, ...others })
  forget('lab', 'a1', d)
  expect([...d.map.keys()]).toEqual(Object.keys(others).map((k) => `atelier:${k}`))
})

test('unsent contains the drafts of this tab, even if another tab overwrote them or storage is forbidden', () => {
  remember('draft:chat:lab', 'begun here')
  remember('draft:dm:lab:a2', 'thought better of')
  remember('draft:dm:lab:a2', undefined)
  remember('draft:chat:lab2', 'elsewhere')
  remember('reading:lab', 'a place')
  expect(unsent('lab', 'a1', device({ 'draft:chat:lab': 'begun there' }))).toEqual(['begun there', 'begun here'])
  const forbidden = device({})
  forbidden.getItem = () => {
    throw new Error('forbidden')
  }
  expect(unsent('lab', 'a1', forbidden)).toEqual(['begun here'])
  forget('lab', 'a1', device({}))
  expect(unsent('lab', 'a1', device({}))).toEqual([])
  expect(unsent('lab2', 'a1', device({}))).toEqual(['elsewhere'])
})
