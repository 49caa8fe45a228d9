import { expect, test } from 'vitest'
import { workshop, type ChatMessage, type Codelab, type Workshop } from '../workshop/state'
import { History } from './history'

const message = (n: number) => ({ id: `c${String(n).padStart(4, '0')}`, msg_type: 'chat' }) as ChatMessage
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => message(from + i))
const holding = (chat: ChatMessage[], olderChat: boolean): { now: Workshop | null } => ({
  now: { ...workshop('a', { id: 'lab' } as Codelab, []), chat, olderChat },
})
const none = () => Promise.reject(new Error('not asked for'))

test('an older page is put before the loaded messages', async () => {
  const holder = holding(range(4, 5), true)
  const asked: string[] = []
  const history = new History(holder, async (id) => (asked.push(id), { page: range(2, 3), more: true }))
  await history.older()
  expect([asked, holder.now?.chat, holder.now?.olderChat]).toEqual([['c0004'], range(2, 5), true])
})

test('no page is requested after the last one', async () => {
  const holder = holding(range(2, 3), true)
  let asked = 0
  const history = new History(holder, async () => (asked++, { page: range(1, 1), more: false }))
  await history.older()
  await history.older()
  expect([holder.now?.chat, asked]).toEqual([range(1, 3), 1])
})

test('a page is dropped when the first message has changed during the read', async () => {
  const holder = holding(range(4, 6), true)
  const history = new History(holder, async () => {
    holder.now = { ...holder.now!, chat: range(5, 6) }
    return { page: range(2, 3), more: true }
  })
  await history.older()
  expect(holder.now?.chat).toEqual(range(5, 6))
})

test('the chat is trimmed only above twice the limit, and trimmed messages can be loaded again', () => {
  const few = holding(range(1, 600), false)
  new History(few, none).trim(300)
  expect([few.now?.chat.length, few.now?.olderChat]).toEqual([600, false])
  const many = holding(range(1, 601), false)
  new History(many, none).trim(300)
  expect([many.now?.chat, many.now?.olderChat]).toEqual([range(302, 601), true])
})

test('before the codelab is read, older messages are not requested and the chat is not trimmed', async () => {
  const history = new History({ now: null }, none)
  history.trim(1)
  await expect(history.older()).resolves.toBeUndefined()
})
