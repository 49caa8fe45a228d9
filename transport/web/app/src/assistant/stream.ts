// Sends one question to the AI and streams the answer.
import { csrfToken, patientFetch, type Schemas } from '../api/client'
import { Refused } from '../api/refused'
import { sitePath } from '../device/place'
import { Answer } from './ending'

type Event = Schemas['AIEvent']

/** Reads server-sent events from a body. Yields the name and data of each event that has data. */
export async function* sse(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: string }> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let rest = ''
  let event = ''
  let data: string[] = []
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      rest += value
      const lines = rest.split(/\r\n|\n|\r(?!$)/) // a line feed can follow in the next chunk
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) yield { event: event || 'message', data: data.join('\n') }
          event = ''
          data = []
        } else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
        else if (line.startsWith('event:')) event = line.slice(6).trim()
      }
    }
  } finally {
    void reader.cancel().catch(() => {}) // the consumer can stop before the end
  }
}

/**
 * Sends the question, and yields the answer so far after each piece. The answer's ending is valid
 * after the last piece. Throws Refused if the server refuses the question or sends an error event,
 * or if the connection is lost. Aborting the signal cancels the question on the server, and throws
 * an AbortError here.
 */
export async function* answer(question: Schemas['AIAsk'], as: 'admin' | 'attendee', signal: AbortSignal): AsyncGenerator<Answer> {
  const response = await patientFetch(
    new Request(sitePath(`/api/ai/stream?as=${as}`), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrfToken() },
      body: JSON.stringify(question),
      signal,
    }),
  ).catch((e: unknown) => {
    if (e instanceof DOMException && e.name === 'AbortError') throw e
    throw new Refused(0, '')
  })
  if (!response.ok || !response.body) throw Refused.from(response, await response.json().catch(() => null))
  const answer = new Answer()
  try {
    for await (const { event, data } of sse(response.body)) {
      if (event === 'error') throw new Refused(502, '')
      answer.take(JSON.parse(data) as Event)
      yield answer
    }
  } catch (e) {
    throw e instanceof TypeError ? new Refused(0, '') : e // the connection was lost
  }
}
