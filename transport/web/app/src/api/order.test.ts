import { expect, test } from 'vitest'
import { inOrder } from './order'

test('a response is used unless a later read has answered', () => {
  const begin = inOrder()
  const [first, second, third] = [begin(), begin(), begin()]
  expect([second(), first(), third(), second()]).toEqual([true, false, true, false])
  expect(begin()()).toBe(true)
})
