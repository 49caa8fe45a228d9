/// <reference lib="webworker" />
// Runs one page's WebSocket, to take work off the page's main thread.
import { batched } from './batches'
import type { Pipe } from './pipe'
import { socket } from './socket'
import type { FromSocket, ToSocket } from './worked'

const page = self as unknown as DedicatedWorkerGlobalScope
const tell = (m: FromSocket) => page.postMessage(m)
const dial = batched(socket)
let pipe: Pipe | null = null

page.onmessage = ({ data }: MessageEvent<ToSocket>) => {
  if ('open' in data) {
    const { address, from, life } = data.open
    // Pages in an insecure context (plain HTTP) have no locks.
    void navigator.locks?.request(life, () => {
      tell({ alive: true })
      return new Promise(() => {}) // the lock is held until the worker ends
    })
    pipe = dial(address, from, { messages: (batch) => tell({ batch }), closed: (closed) => tell({ closed }) })
  } else if ('send' in data) {
    pipe?.send(data.send)
  } else {
    pipe?.close()
    page.close()
  }
}
