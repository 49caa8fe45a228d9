import { describe, expect, test, vi } from 'vitest'
import { faults, module } from '../../scripts/messages.mjs'
import { say as english } from './locale'

const area = (en: object, de: object = en) => ({ shared: { en, de } })

describe('catalogues', () => {
  test('that agree have no faults', () => {
    expect(faults(area({ hi: 'Hi {name}', left: { one: '{count} left', other: '{count} left' } }))).toEqual([])
  })

  test.each([
    ['a text that a language lacks', area({ hi: 'Hi', bye: 'Bye' }, { hi: 'Hallo' }), 'shared/de: bye is missing'],
    ['a text that only another language has', area({ hi: 'Hi' }, { hi: 'Hallo', du: 'Du' }), 'shared/de: du is not in en'],
    ['other parameters', area({ hi: 'Hi {name}' }, { hi: 'Hallo {Name}' }), 'shared/de: hi has the parameters Name, and name in en'],
    [
      'a plural without one of its texts',
      area({ n: { one: '1', other: '{count}' } }, { n: { other: '{count}' } }),
      'shared/de: n is neither a text nor {one, other}',
    ],
    ['a key that is no name', area({ 'a-b': 'x' }), 'shared: a-b is no name'],
    ['a key in two areas', { ...area({ hi: 'Hi' }), author: area({ hi: 'Hi' }).shared }, 'author: hi is in shared, too'],
  ])('%s is a fault', (_, areas, fault) => {
    expect(faults(areas)).toContain(fault)
  })
})

/** What a message says in a language. */
function say(message: Record<string, unknown>, locale: string, i?: object): string {
  const body = module('it', message)
    .replace(/^import .*\n/gm, '')
    .replace('export const it =', 'return')
  const one = (l: string, count: unknown) => new Intl.PluralRules(l).select(Number(count)) === 'one'
  return new Function('getLocale', 'say', 'one', body)(() => locale, english, one)(i)
}

describe('a message', () => {
  const all = (message: unknown) => ({ en: message, de: message })

  test('is the text of the language', () => {
    const hi = { en: 'Hi', de: 'Hallo' }
    expect(['en', 'de', 'fr'].map((l) => say(hi, l))).toEqual(['Hi', 'Hallo', 'Hi'])
  })

  test('has marks on its letters in the language of the tests, but none in its parameters', () => {
    vi.stubGlobal('navigator', { languages: ['he-XB'] })
    vi.resetModules()
    return import('./locale').then(({ say: odd }) => {
      expect(odd`by ${'ann'} at ${5}`).toBe('⟦bÿ ann át 5·⟧')
      vi.unstubAllGlobals()
    })
  })

  test('has its parameters', () => expect(say(all('{a} of {b}'), 'de', { a: 1, b: 'two' })).toBe('1 of two'))

  test('speaks of one and of many', () => {
    const left = all({ one: '{count} seat', other: '{count} seats' })
    expect([0, 1, 2].map((count) => say(left, 'en', { count }))).toEqual(['0 seats', '1 seat', '2 seats'])
  })

  test.each(['a `tick`', 'C:\\temp', '$ {a', 'costs ${price}', 'it\'s "so"', '</script>'])('keeps %s as it stands', (text) => {
    const i = { price: 5 }
    expect(say(all(text), 'en', i)).toBe(text.replace('{price}', '5'))
  })
})
