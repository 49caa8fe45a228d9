// The messages of the AsyncAPI document, from which their types are generated.
import type { components, ServerMessage } from './messages'

export type { ServerMessage }

export type Welcome = components['schemas']['Welcome']
export type You = Welcome['you']

/** The messages of one type. */
export type Of<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>

/** Messages about the connection itself, which the connection does not pass on. */
export type Control = Of<'welcome'> | Of<'ack'> | Of<'error'> | Of<'resync'> | Of<'reconnect'>
export type Told = Exclude<ServerMessage, Control>
