/// <reference lib="webworker" />
// Lays out texts of attendees and of the AI away from the page, which they might
// stop.
import type { Begun, Done, Task } from './foreign'
import { parse } from './parse'

self.onmessage = (e: MessageEvent<Task>) => {
  const { id, markdown, top } = e.data
  self.postMessage({ id, begun: true } satisfies Begun)
  self.postMessage({ id, html: parse(markdown, top) } satisfies Done)
}
