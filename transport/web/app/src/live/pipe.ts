import type { ServerMessage } from './protocol'

/** The address of a codelab's message stream. */
export interface Address {
  codelab: string
  as: 'admin' | 'attendee'
  /** Whether the page is in a frame of another page. */
  framed?: boolean
}

/** A position in a codelab's message stream. epoch identifies the stream. */
export interface Place {
  epoch: string
  seq: number
}

/** One connection attempt, until it is closed. */
export interface Pipe {
  /**
   * Sends one message. Valid only after the connection has opened. The server's answer arrives as
   * another message.
   */
  send(message: object): void
  close(): void
}

/** The callbacks of a pipe. closed is the last call. */
export interface PipeEvents {
  /** Receives messages in order. An empty batch only shows that the server is alive. */
  messages(batch: readonly ServerMessage[]): void
  /** code is the close code of the WebSocket protocol, or 1006 if no reason was sent. */
  closed(code: number): void
}

/** Starts a connection attempt. from is the position to resume from. */
export type Dial = (address: Address, from: Place | null, on: PipeEvents) => Pipe

/** The query parameters of a connection. */
export function query(address: Address, from: Place | null): string {
  const q = new URLSearchParams({ as: address.as })
  if (address.framed) q.set('framed', '1')
  if (from) {
    q.set('epoch', from.epoch)
    q.set('since', String(from.seq))
  }
  return q.toString()
}
