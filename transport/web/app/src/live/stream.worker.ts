/// <reference lib="webworker" />
// The event stream of one codelab and role, shared by one person's tabs. Tabs can be opened at any
// time. If the worker no longer has the messages after a tab's position, the tab receives a resync,
// as it would from the server, and reads everything again.
import type { FromStream, ToStream } from './events'

interface Head {
  epoch: string
  seq: number
  /**
   * The last welcome, which identifies the person. It is stored without its time, which would be
   * out of date for later tabs.
   */
  welcome: Record<string, unknown>
}

/** The maximum number of messages stored for reconnecting tabs. */
const kept = 2000

const tabs = new Set<MessagePort>()
const recent: { seq: number; text: string }[] = []
let source: EventSource | null = null
/** The time at which the stream last received something, in Unix milliseconds. */
let heard = 0
/**
 * A stream is dead after this silence, in milliseconds. The server sends a beat at least every 15
 * seconds.
 */
const silence = 17_000
let head: Head | null = null

function tell(port: MessagePort, m: FromStream) {
  port.postMessage(m)
}

function start(path: string, epoch: string, seq: number) {
  recent.length = 0
  head = null
  const from = epoch ? `&epoch=${encodeURIComponent(epoch)}&since=${seq}` : ''
  source = new EventSource(path + from)
  heard = Date.now()
  source.onmessage = (e: MessageEvent<string>) => {
    heard = Date.now()
    note(e.data)
    for (const port of tabs) tell(port, { message: e.data })
  }
  source.addEventListener('beat', () => {
    heard = Date.now()
    for (const port of tabs) tell(port, { beat: true })
  })
  source.onerror = lose
}

function lose() {
  source?.close()
  source = null
  for (const port of tabs) tell(port, { closed: 1006 })
  tabs.clear()
}

/** Records the stream's position after a message. */
function note(text: string) {
  const m = JSON.parse(text) as { type: string; seq?: number; epoch?: string }
  if (m.type === 'welcome' || m.type === 'resync') {
    const welcome = m.type === 'welcome' ? { ...m, now: undefined } : (head?.welcome ?? {})
    if (m.type === 'resync') recent.length = 0
    head = { epoch: m.epoch ?? '', seq: m.seq ?? 0, welcome }
  } else if (head && typeof m.seq === 'number') {
    head.seq = m.seq
    recent.push({ seq: m.seq, text })
    if (recent.length > kept) recent.splice(0, kept / 2)
  }
}

/** Adds a tab to a running stream. */
function letIn(port: MessagePort, epoch: string, seq: number) {
  if (!head) return // the stream's welcome has not arrived, and the tab receives it with the others
  const oldest = recent[0]?.seq ?? head.seq + 1
  const continues = epoch === head.epoch && seq <= head.seq && seq >= oldest - 1
  tell(port, { message: JSON.stringify({ ...head.welcome, epoch: head.epoch, seq: continues ? seq : head.seq, head: head.seq }) })
  if (epoch && !continues) {
    tell(port, { message: JSON.stringify({ type: 'resync', epoch: head.epoch, seq: head.seq, reason: 'window' }) })
  } else if (continues) {
    for (const m of recent) if (m.seq > seq) tell(port, { message: m.text })
  }
}

;(self as unknown as SharedWorkerGlobalScope).onconnect = (e) => {
  const port = e.ports[0]
  if (!port) return
  port.onmessage = (m: MessageEvent<ToStream>) => {
    if ('leave' in m.data) {
      tabs.delete(port)
      if (tabs.size === 0) {
        source?.close()
        source = null
      }
      return
    }
    const { path, epoch, seq } = m.data.open
    if (source && Math.abs(Date.now() - heard) > silence) lose() // a reconnecting tab must not join a dead stream
    tabs.add(port)
    if (source) letIn(port, epoch, seq)
    else start(path, epoch, seq)
  }
}
