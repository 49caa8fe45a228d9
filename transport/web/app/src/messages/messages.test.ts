import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { faults, shown } from '../../scripts/messages.mjs'
import { match } from './locale'

const area = (en: object, de: object = en) => ({ shared: { en, de } })
const wrong = (areas: object) => faults(areas, ['de', 'en'])

describe('catalogues', () => {
  test('that match have no faults', () => {
    expect(wrong(area({ hi: 'Hi {name}', left: { one: '{count} left', other: '{count} left' } }))).toEqual([])
  })

  test.each([
    ['a text that is missing in a language', area({ hi: 'Hi', bye: 'Bye' }, { hi: 'Hallo' }), 'shared/de: bye is missing'],
    ['a text that is missing in English', area({ hi: 'Hi' }, { hi: 'Hallo', du: 'Du' }), 'shared/de: du is not in en'],
    ['other parameters', area({ hi: 'Hi {name}' }, { hi: 'Hallo {Name}' }), 'shared/de: hi has the parameters Name, and name in en'],
    [
      'a plural without one of its texts',
      area({ n: { one: '1', other: '{count}' } }, { n: { other: '{count}' } }),
      'shared/de: n is neither a text nor {one, other}',
    ],
    ['an empty text', area({ hi: 'Hi' }, { hi: ' ' }), 'shared/de: hi is neither a text nor {one, other}'],
    [
      'a plural without the categories of its language',
      { shared: { en: { n: { one: '1', other: '{count}' } }, pl: { n: { one: '1', other: '{count}' } } } },
      'shared/pl: n is neither a text nor {few, many, one, other}',
    ],
    [
      'a parameter that is missing in one text of a plural',
      area({ n: { one: '{who} 1', other: '{who} {count}' } }, { n: { one: 'eins', other: '{who} {count}' } }),
      'shared/de: n lacks {who} in one of its texts',
    ],
    ['a key that is not a name', area({ 'a-b': 'x' }), 'shared: a-b is not a name'],
    ['a key in two areas', { ...area({ hi: 'Hi' }), author: area({ hi: 'Hi' }).shared }, 'author: hi is in shared, too'],
  ])('%s is a fault', (_, areas, fault) => {
    expect(faults(areas, Object.keys(Object.values(areas)[0] as object))).toContain(fault)
  })
})

describe('a message', () => {
  /** Formats a catalogue text in a language. */
  async function say(locale: string, text: string | object, parameters?: Record<string, unknown>): Promise<string> {
    vi.stubGlobal('navigator', { languages: [locale] })
    vi.stubGlobal('localStorage', { getItem: () => (locale === 'he-XB' ? locale : null) })
    vi.resetModules()
    const { say } = await import('./texts')
    return say([text as string], 0, parameters)
  }
  afterEach(() => void vi.unstubAllGlobals())

  test('contains its parameters in any order', async () => {
    expect(await say('de', '{b} von {a}: {b}', { a: 1, b: 'zwei' })).toBe('zwei von 1: zwei')
  })

  test.each([
    ['en', [0, 1, 2, 5], ['other', 'one', 'other', 'other']],
    ['pl', [1, 2, 5, 22, 1.5], ['one', 'few', 'many', 'few', 'other']],
    ['ar', [0, 1, 2, 3, 11, 100], ['zero', 'one', 'two', 'few', 'many', 'other']],
    ['ja', [0, 1, 5], ['other', 'other', 'other']],
  ])('in %s uses the plural category of the count', async (locale, counts, categories) => {
    const each = Object.fromEntries(['zero', 'one', 'two', 'few', 'many', 'other'].map((c) => [c, c]))
    const has = await import('./locale')
    if (!(has.locales as readonly string[]).includes(locale)) return
    for (const [i, count] of counts.entries()) expect(await say(locale, each, { count })).toBe(categories[i])
  })

  test('uses "other" if the language has no text for millions', async () => {
    expect(await say('fr', { one: 'un', other: 'plusieurs' }, { count: 1_000_000 })).toBe('plusieurs')
  })

  test('has accents on its letters in the test language, but not in its parameters', async () => {
    expect(await say('he-XB', 'by {who} at {n}', { who: 'ann', n: 5 })).toBe('⟦bÿ ann át 5·⟧')
    expect(await say('he-XB', { one: '{count} seat', other: '{count} seats' }, { count: 1 })).toBe('⟦1 sëát·⟧')
  })

  test.each(['a `tick`', 'C:\\temp', '$ {a', 'costs $5', 'it\'s "so"', '</script>', '$&'])('keeps %s unchanged', async (text) => {
    expect(await say('en', text)).toBe(text)
    expect(await say('en', '{it}', { it: text })).toBe(text)
  })
})

describe('texts that are not loaded yet', () => {
  test('are awaited, and loaded again after a failure', async () => {
    vi.resetModules()
    const { catalogue, ready, say, withTexts } = await import('./texts')
    const load = vi.fn(() => Promise.resolve({ default: ['there'] }))
    load.mockRejectedValueOnce(new Error('offline'))
    const texts = catalogue(new Proxy({}, { get: () => load }) as never)
    expect(load).not.toHaveBeenCalled()
    await expect(ready()).rejects.toThrow('offline')
    expect(await withTexts(() => Promise.resolve('a module'))).toBe('a module')
    expect(say(texts, 0)).toBe('there')
    await ready()
    expect(load).toHaveBeenCalledTimes(2)
  })
})

describe('the language', () => {
  const there = ['ar', 'de', 'en', 'fr', 'pt-BR', 'zh-Hans'] as const
  test.each([
    [['de-AT', 'en'], 'de'],
    [['sv', 'fr-CA'], 'fr'],
    [['pt-PT'], 'pt-BR'],
    [['PT-br'], 'pt-BR'],
    [['zh-CN'], 'zh-Hans'],
    [['zh'], 'zh-Hans'],
    [['zh-TW', 'de'], 'de'],
    [['zh-Hant-HK'], undefined],
    [['ar-EG', 'fr'], 'ar'],
    [['xx', ''], undefined],
  ])('for %j is %s', (asked, found) => expect(match(asked, there)).toBe(found))
})

// A module that is loaded later loads its own texts, and its loader waits for them.
test('every dynamic import waits for the texts of its module', () => {
  const source = path.join(import.meta.dirname, '..')
  const out: string[] = []
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!/(?<!\.test)\.(ts|svelte)$/.test(name) || name.startsWith('messages/compiled')) continue
    const file = path.join(source, name)
    for (const [all, before, to] of readFileSync(file, 'utf8').matchAll(/(.*)import\('(\.[^']+)'\)/g)) {
      const at = path.resolve(path.dirname(file), to!)
      const module = [at, at + '.ts'].find((f) => path.extname(f) && existsSync(f))!
      if (
        shown([module]).size > 0 &&
        !/(?:withTexts|screen|lead)\(\(\) => $|screen\(framed \? \(\) => $|(?:<LazyComponent |^\s+)load=\{\(\) => $/.test(before!)
      )
        out.push(`${name}: ${all.trim()}`)
    }
  }
  expect(out).toEqual([])
})
