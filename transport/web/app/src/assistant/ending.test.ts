import { describe, expect, test, vi } from 'vitest'
import { Refused } from '../api/refused'
import { m } from '../messages/compiled/messages.js'
import { ready } from '../messages/texts'

let response: Response
vi.mock('../api/client', () => ({ csrfToken: () => 't', patientFetch: () => Promise.resolve(response) }))
vi.stubGlobal('Request', class {})

const { Answer, busyWord, endingWord } = await import('./ending')
const { answer } = await import('./stream')
await ready()

type Event = Parameters<InstanceType<typeof Answer>['take']>[0]

const event = (parts: object[], finishReason?: string) => ({ candidates: [{ content: { role: 'model', parts }, finishReason }] }) as Event

describe('an answer', () => {
  test.each([
    ['whole', [event([{ text: 'a' }]), event([{ text: 'b' }], 'STOP')]],
    ['whole', [event([{ text: 'ab' }])]],
    ['cut', [event([{ text: 'ab' }], 'MAX_TOKENS')]],
    ['cut', [event([{ text: 'ab' }], 'MAX_TOKENS'), event([{ text: '' }])]],
    ['blocked', [event([{ text: 'ab' }]), event([{ text: '' }], 'SAFETY')]],
    ['blocked', [event([{ text: 'ab' }], 'PROHIBITED_CONTENT')]],
    ['blocked', [event([{ text: 'ab' }], 'RECITATION')]],
    ['call', [event([{ text: 'ab' }, { functionCall: { name: 'f' } }], 'STOP')]],
    ['call', [event([{ text: 'ab' }], 'UNEXPECTED_TOOL_CALL')]],
    ['blocked', [event([{ text: 'ab' }, { functionCall: { name: 'f' } }], 'SAFETY')]],
    ['other', [event([{ text: 'ab' }], 'OTHER')]],
  ] as const)('ends %s', (ending, events) => {
    const a = new Answer()
    for (const e of events) a.take(e)
    expect([a.text, a.ending]).toEqual(['ab', ending])
  })

  test('without text ends as "other"', () => {
    const a = new Answer()
    a.take(event([{ text: '' }], 'STOP'))
    expect(a.ending).toBe('other')
  })

  test('leaves out thoughts', () => {
    const a = new Answer()
    a.take(event([{ text: 'hm', thought: true }, { text: 'a' }], 'STOP'))
    expect(a.text).toBe('a')
  })

  test('has a different text for each incomplete ending', () => {
    expect(endingWord('whole')).toBe('')
    const said = (['cut', 'blocked', 'call', 'other'] as const).map(endingWord)
    expect(said).not.toContain('')
    expect(said).not.toContain(m.ask_answered())
    expect(new Set(said).size).toBe(4)
  })
})

describe('the text for a busy AI', () => {
  test.each([
    [17, m.ask_busy_seconds({ seconds: 17 })],
    [0.2, m.ask_busy_seconds({ seconds: 1 })],
    [119, m.ask_busy_seconds({ seconds: 119 })],
    [3599, m.ask_busy_minutes({ minutes: 60 })],
    [null, m.ask_busy()],
  ])('matches a Retry-After of %s', (after, said) => {
    expect(busyWord(new Refused(503, 'the AI is busy; try again later', after))).toBe(said)
  })

  test('is null for other errors', () => {
    expect(busyWord(new Refused(502, 'the AI failed to answer'))).toBeNull()
    expect(busyWord(new Error('no'))).toBeNull()
  })
})

describe('the stream of an answer', () => {
  const asked = async () => {
    let last: InstanceType<typeof Answer> | null = null
    for await (const a of answer({} as never, 'attendee', new AbortController().signal)) last = a
    return last
  }
  const data = (e: Event) => `data: ${JSON.stringify(e)}\n\n`

  test('returns the answer with its ending', async () => {
    response = new Response(': here\n\n' + data(event([{ text: 'a' }])) + data(event([{ text: 'b' }], 'MAX_TOKENS')))
    const a = await asked()
    expect([a?.text, a?.ending]).toEqual(['ab', 'cut'])
  })

  test('rejects when it breaks off', async () => {
    response = new Response(data(event([{ text: 'a' }])) + 'event: error\ndata: {"error":"broken"}\n\n')
    await expect(asked()).rejects.toMatchObject({ status: 502 })
  })

  test('rejects with the wait of a busy AI', async () => {
    response = new Response('{"error":"the AI is busy; try again later"}', { status: 503, headers: { 'Retry-After': '17' } })
    await expect(asked()).rejects.toSatisfy((e) => busyWord(e) === m.ask_busy_seconds({ seconds: 17 }))
  })
})
