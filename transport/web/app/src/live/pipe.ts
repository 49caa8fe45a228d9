import type { ServerMessage } from './protocol'

/** Where the messages of a codelab come from. */
export interface Address {
  codelab: string
  as: 'admin' | 'attendee'
  /** The page is in a frame of another one. */
  framed?: boolean
}

/** A position in a codelab's stream; epoch names the stream. */
export interface Place {
  epoch: string
  seq: number
}

/** One attempt at a connection, until it is closed. */
export interface Pipe {
  /** Sends one message; only after opened. Throws what the server refused. */
  send(message: object): void
  close(): void
}

/** The callbacks of a pipe; closed is the last. */
export interface PipeEvents {
  /** In order; an empty batch is only a sign of life of the server. */
  messages(batch: readonly ServerMessage[]): void
  /** code is the close code of the WebSocket protocol; 1006 if no reason was sent. */
  closed(code: number): void
}

/** Begins an attempt; from is the place to go on from. */
export type Dial = (address: Address, from: Place | null, on: PipeEvents) => Pipe

/** The query of a connection. */
export function query(address: Address, from: Place | null): string {
  const q = new URLSearchParams({ as: address.as })
  if (address.framed) q.set('framed', '1')
  if (from) {
    q.set('epoch', from.epoch)
    q.set('since', String(from.seq))
  }
  return q.toString()
}
