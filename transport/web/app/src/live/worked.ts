// The socket of a facilitator's page, held by a worker. Every move of a crowd reaches
// the facilitator: from ten thousand people 170 frames arrive per second. Reading them
// in the page took half of the time of an update.
import type { Address, Dial, Place } from './pipe'
import type { ServerMessage } from './protocol'

/** A message of the page to the worker; life names the lock that the page holds as long as it is open. */
export type ToSocket = { open: { address: Address; from: Place | null; life: string } } | { send: object } | { close: true }
/** A message of the worker to the page. */
export type FromSocket = { alive: true } | { batch: readonly ServerMessage[] } | { closed: number }

/** The time for a worker's first message, milliseconds: its script comes over the network, too. */
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
    // A browser that ends a worker, for its memory say, tells nobody; but its lock is free then.
    else void navigator.locks.request(life, () => end(1006))
  }
  tell({ open: { address, from, life } })
  return {
    send: (message) => tell({ send: message }),
    close() {
      over = true
      clearTimeout(timer)
      tell({ close: true }) // it ends itself when the socket has heard of it
    },
  }
}
