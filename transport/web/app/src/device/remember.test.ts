import { afterEach, expect, test, vi } from 'vitest'
import { recall, remember } from './remember'

afterEach(() => void vi.unstubAllGlobals())

/** The part of a device's storage that the app uses. */
function storage() {
  const map = new Map<string, string>()
  const device = {
    getItem: (k: string) => map.get(k) ?? null,
    setItem: (k: string, v: string) => void map.set(k, v),
    removeItem: (k: string) => void map.delete(k),
  }
  vi.stubGlobal('localStorage', device)
  return map
}

test('remembered values are recalled, even falsy ones', () => {
  const map = storage()
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
  storage().set('atelier:x', '{broken')
  expect(recall('x', 'nothing')).toBe('nothing')
  const forbidden = () => {
    throw new Error('forbidden')
  }
  vi.stubGlobal('localStorage', { getItem: forbidden, setItem: forbidden, removeItem: forbidden })
  remember('x', 1)
  remember('x', undefined)
  expect(recall('x', 'nothing')).toBe('nothing')
})
