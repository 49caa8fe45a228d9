import { expect, test } from 'vitest'
import { sse } from './stream'

const body = (...chunks: string[]) =>
  new ReadableStream<Uint8Array>({
    start: (c) => {
      for (const chunk of chunks) c.enqueue(new TextEncoder().encode(chunk))
      c.close()
    },
  })

test.each([
  [['event: a\ndata: 1\n\ndata: 2\n\n']],
  [['event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n']],
  [['event: a\r', '\ndata: 1\r', '\n\r', '\ndata: 2\r\n\r\n']],
  [['event: a\rdata: 1\r', '\rdata: 2\r\r\n']],
])('%j is two events', async (chunks) => {
  const got: string[] = []
  for await (const { event, data } of sse(body(...chunks))) got.push(`${event} ${data}`)
  expect(got).toEqual(['a 1', 'message 2'])
})
