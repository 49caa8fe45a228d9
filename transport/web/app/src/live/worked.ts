// A facilitator's WebSocket, which a worker holds. A facilitator receives the progress of all
// attendees: ten thousand people cause 170 frames per second. When the page itself parsed these
// frames, parsing took half of the time of an update.
import type { Address, Dial, Place } from './pipe'
import type { ServerMessage } from './protocol'

/**
 * A message from the page to the worker. life names the lock that the worker holds until it ends.
 */
export type ToSocket = { open: { address: Address; from: Place | null; life: string } } | { send: object } | { close: true }
/** A message from the worker to the page. */
export type FromSocket = { alive: true } | { batch: readonly ServerMessage[] } | { closed: number }

/**
 * The time limit for a worker's first message, in milliseconds. Its script is loaded over the
 * network.
 */
const wordWithin = 20_000

export const workedSocket: Dial = (address, from, on) => {
  const worker = new Worker(new URL('./socket.worker.ts', import.meta.url), { type: 'module', name: 'socket' })
  const tell = (m: ToSocket) => worker.postMessage(m)
  let over = false
  const end = (code: number) => {
    if (over) return
    over = true
    clearTimeout(timer)
    worker.terminate()
    on.closed(code)
  }
  const timer = setTimeout(() => end(1006), wordWithin)
  const life = `atelier:socket:${crypto.getRandomValues(new Uint32Array(4)).join('-')}`
  worker.onerror = () => end(1006)
  worker.onmessage = (e: MessageEvent<FromSocket>) => {
    if (over) return
    clearTimeout(timer)
    if ('closed' in e.data) end(e.data.closed)
    else if ('batch' in e.data) on.messages(e.data.batch)
    // If a browser ends a worker, for instance to free memory, the page only notices that the
    // worker's lock is released.
    else void navigator.locks.request(life, () => end(1006))
  }
  tell({ open: { address, from, life } })
  return {
    send: (message) => tell({ send: message }),
    close() {
      over = true
      clearTimeout(timer)
      tell({ close: true }) // the worker ends itself after it has closed the socket
    },
  }
}
