// The connection for networks that break WebSockets. It receives messages as server-sent events and
// sends messages by POST. Browsers allow six connections per server. Therefore all tabs with the
// same codelab and role share one stream in a shared worker.
import { api, ask } from '../api/client'
import { Refused } from '../api/refused'
import { sitePath } from '../device/place'
import { query, type Address, type Dial, type PipeEvents, type Place } from './pipe'
import type { ServerMessage } from './protocol'

export const events: Dial = (address, from, on) => {
  let over = false
  const inner: PipeEvents = {
    messages: (batch) => !over && on.messages(batch),
    closed(code) {
      if (over) return
      over = true
      stop() // a message that could not be sent ends the connection, too
      on.closed(code)
    },
  }
  // Messages are sent one after the other, because concurrent requests can arrive in any order.
  let last = Promise.resolve()
  const stop = 'SharedWorker' in globalThis ? shared(address, from, inner) : own(address, from, inner)
  return {
    send(message) {
      last = last.then(() => (over ? undefined : post(address, message as { type: string; ref?: string }, inner)))
    },
    close() {
      over = true
      stop()
    },
  }
}

/** Opens a stream for this tab only, for browsers without shared workers. */
function own(address: Address, from: Place | null, on: PipeEvents): () => void {
  const source = new EventSource(sitePath(`/api/codelabs/${address.codelab}/events?${query(address, from)}`))
  source.onmessage = (e: MessageEvent<string>) => on.messages([JSON.parse(e.data) as ServerMessage])
  source.addEventListener('beat', () => on.messages([]))
  source.onerror = () => {
    source.close()
    on.closed(1006)
  }
  return () => source.close()
}

/** A message from a tab to the worker that holds the stream. */
export type ToStream = { open: { path: string; epoch: string; seq: number } } | { leave: true }
/** A message from the worker to a tab. */
export type FromStream = { message: string } | { beat: true } | { closed: number }

function shared(address: Address, from: Place | null, on: PipeEvents): () => void {
  const worker = new SharedWorker(new URL('./stream.worker.ts', import.meta.url), { type: 'module', name: `${address.codelab} ${query(address, null)}` })
  const port = worker.port
  const tell = (m: ToStream) => port.postMessage(m)
  const leave = () => {
    removeEventListener('pagehide', leave)
    tell({ leave: true })
    port.close()
  }
  addEventListener('pagehide', leave)
  worker.onerror = () => on.closed(1006)
  port.onmessage = (e: MessageEvent<FromStream>) => {
    if ('message' in e.data) {
      on.messages([JSON.parse(e.data.message) as ServerMessage])
    } else if ('beat' in e.data) {
      on.messages([])
    } else {
      leave()
      on.closed(e.data.closed)
    }
  }
  tell({ open: { path: sitePath(`/api/codelabs/${address.codelab}/events?${query(address, null)}`), epoch: from?.epoch ?? '', seq: from?.seq ?? 0 } })
  return leave
}

async function post(address: Address, message: { type: string; ref?: string }, on: PipeEvents): Promise<void> {
  try {
    const ack = await ask(
      api.POST('/codelabs/{id}/messages', {
        params: { path: { id: address.codelab }, query: { as: address.as } as never },
        body: message as never,
      } as never) as Promise<{ data?: unknown; error?: unknown; response: Response }>,
    )
    on.messages([ack as ServerMessage])
  } catch (e) {
    const refused = e instanceof Refused ? e : new Refused(0, '')
    if (refused.status >= 400 && refused.status < 500 && refused.status !== 401 && refused.status !== 429) {
      on.messages([{ type: 'error', error: refused.said, ref: message.ref } as ServerMessage])
    } else {
      on.closed(refused.status === 401 ? 1008 : 1006)
    }
  }
}
