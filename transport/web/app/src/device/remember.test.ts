import { afterEach, expect, test, vi } from 'vitest'
import { fakeStorage } from './fakeStorage'
import { recall, remember } from './remember'

afterEach(() => void vi.unstubAllGlobals())

test('remembered values are recalled, even falsy ones', () => {
  const map = fakeStorage()
  expect(recall('x', 'nothing')).toBe('nothing')
  for (const value of [false, 0, '', null, { a: [1] }]) {
    remember('x', value)
    expect(recall<unknown>('x', 'nothing')).toEqual(value)
  }
  expect([...map.keys()]).toEqual(['atelier:x'])
  remember('x', undefined)
  expect(map.size).toBe(0)
  expect(recall('x', 'nothing')).toBe('nothing')
})

test('invalid or forbidden storage is not an error', () => {
  fakeStorage().set('atelier:x', '{broken')
  expect(recall('x', 'nothing')).toBe('nothing')
  const forbidden = () => {
    throw new Error('forbidden')
  }
  vi.stubGlobal('localStorage', { getItem: forbidden, setItem: forbidden, removeItem: forbidden })
  remember('x', 1)
  remember('x', undefined)
  expect(recall('x', 'nothing')).toBe('nothing')
})
