// The socket of a facilitator's page, held by a worker. A crowd tells a
// facilitator every move: of ten thousand people 170 frames a second arrive,
// and taking them in cost the page half of an update.
import type { Address, Dial, Place } from './pipe'
import type { ServerMessage } from './protocol'

/** What the page tells the worker. */
export type ToSocket = { open: { address: Address; from: Place | null } } | { send: object } | { close: true }
/** What the worker tells the page. */
export type FromSocket = { batch: readonly ServerMessage[] } | { closed: number }

export const workedSocket: Dial = (address, from, on) => {
  const worker = new Worker(new URL('./socket.worker.ts', import.meta.url), { type: 'module', name: 'socket' })
  const tell = (m: ToSocket) => worker.postMessage(m)
  let over = false
  const end = (code: number) => {
    if (over) return
    over = true
    worker.terminate()
    on.closed(code)
  }
  worker.onerror = () => end(1006)
  worker.onmessage = (e: MessageEvent<FromSocket>) => {
    if (over) return
    if ('closed' in e.data) end(e.data.closed)
    else on.messages(e.data.batch)
  }
  tell({ open: { address, from } })
  return {
    send: (message) => tell({ send: message }),
    close() {
      over = true
      tell({ close: true }) // it ends itself when the socket has heard of it
    },
  }
}
