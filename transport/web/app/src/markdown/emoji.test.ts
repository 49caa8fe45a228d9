import { expect, test } from 'vitest'
import { emoji, withEmoji } from './emoji'

test('short names become emoji', () => {
  for (const [text, shown] of [
    [':tada:', '🎉'],
    ['Done :tada::rocket:!', 'Done 🎉🚀!'],
    [':+1: and :-1:', '👍 and 👎'],
    ['(:heavy_check_mark:)', '(✔️)'],
    ['好:tada:了', '好🎉了'],
    [':e-mail:', '📧'],
    [':de:', '🇩🇪'],
  ])
    expect(withEmoji(text!), text).toBe(shown)
})

test('text that only looks like a name is unchanged', () => {
  for (const text of [
    ':no_such_name:',
    '10:100:20',
    'std::b::c',
    'a:b:c',
    'https://example.org/:tada:/',
    ':tada:x',
    'x:tada:',
    ': tada:',
    '::tada::',
    ':TADA:',
  ])
    expect(withEmoji(text), text).toBe(text)
})

test('every name in the list is replaced', () => {
  expect(emoji.size).toBeGreaterThan(1800)
  for (const [name, sign] of emoji) expect(withEmoji(`:${name}:`)).toBe(sign)
})
