import { sitePath } from '../device/place'
import { query, type Dial } from './pipe'
import type { ServerMessage } from './protocol'

/**
 * The time limit for a socket's welcome, in milliseconds. Some networks silently drop the upgrade.
 */
const openWithin = 10_000

/** Starts a connection attempt over a WebSocket. */
export const socket: Dial = (address, from, on) => {
  const url = new URL(sitePath(`/api/ws/${address.codelab}?${query(address, from)}`), location.href)
  url.protocol = url.protocol.replace('http', 'ws')
  const ws = new WebSocket(url)
  let over = false
  const end = (code: number) => {
    if (over) return
    over = true
    clearTimeout(timer)
    ws.close()
    on.closed(code)
  }
  const timer = setTimeout(() => end(1006), openWithin)
  ws.onmessage = (e: MessageEvent<string>) => {
    if (over) return
    clearTimeout(timer)
    on.messages([JSON.parse(e.data) as ServerMessage])
  }
  ws.onclose = (e) => end(e.code)
  return {
    send: (message) => ws.send(JSON.stringify(message)),
    close() {
      over = true
      clearTimeout(timer)
      ws.close(1000)
    },
  }
}
