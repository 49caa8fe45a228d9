import { expect, test } from 'vitest'
import { addressed, addressOf } from './address'

test.each([
  ['', null, null, null],
  ['?step=4', 4, null, null],
  ['?step=4&at=2', 4, null, 2],
  ['?step=99', 8, null, null],
  ['?step=0', null, null, null],
  ['?step=-1', null, null, null],
  ['?step=2.5', null, null, null],
  ['?step=4&at=x', 4, null, null],
  ['?step=4&at=0', 4, null, null],
  ['?at=2', null, null, null],
  ['?page=quiz', null, 'quiz', null],
  ['?page=constructor', null, null, null],
  ['?step=9999999', null, null, null],
])('"%s" in a codelab of eight steps is step %j, page %j, paragraph %j', (search, step, page, block) => {
  expect(addressed(search, 8)).toEqual({ step, page, block })
})

test('an address leads back to its step, page and paragraph', () => {
  expect(addressed(addressOf(3, 7), 8)).toEqual({ step: 3, page: null, block: 7 })
  expect(addressed(addressOf('feedback'), 8)).toEqual({ step: null, page: 'feedback', block: null })
  expect(addressed('?step=3', 0).step).toBeNull()
})
