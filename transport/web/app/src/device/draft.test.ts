import { afterEach, expect, test, vi } from 'vitest'
import { Draft } from './draft.svelte'
import { fakeStorage } from './fakeStorage'

afterEach(() => void vi.unstubAllGlobals())

test('each change of a form is stored at once, and an empty form stores nothing', () => {
  const map = fakeStorage()
  const begin = { url: '', title: '' }
  const draft = new Draft('draft:form', begin)
  expect(map.size).toBe(0)
  draft.change({ url: 'https://example.org' })
  expect(new Draft('draft:form', begin).value).toEqual({ url: 'https://example.org', title: '' })
  draft.change({ url: '' })
  expect(map.size).toBe(0)
  draft.value = { url: 'x', title: 'y' }
  draft.clear()
  expect([draft.value, map.size]).toEqual([begin, 0])
})

test('a form decides which contents are worth storing', () => {
  const map = fakeStorage()
  const draft = new Draft('draft:question', { text: '', anonymous: false }, ({ text }) => text === '')
  draft.change({ anonymous: true })
  expect(map.size).toBe(0)
  draft.change({ text: 'Why?' })
  expect(new Draft('draft:question', { text: '', anonymous: false }).value).toEqual({ text: 'Why?', anonymous: true })
})

test('a form without a key stores nothing', () => {
  const map = fakeStorage()
  const draft = new Draft(null, '')
  draft.value = 'text'
  expect([draft.value, map.size]).toEqual(['text', 0])
})
