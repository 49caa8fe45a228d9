// The messages of the AsyncAPI document, from which their types are made.
import type { RoomMessage } from '../workshop/provisional'
import type { components, ServerMessage as Generated } from './messages'

export type ServerMessage = Exclude<Generated, { type: RoomMessage['type'] | 'welcome' }> | Welcome | RoomMessage

export type Welcome = components['schemas']['Welcome'] & { now?: string }
export type You = Welcome['you']

/** The messages of one type. */
export type Of<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>

/** Messages about the connection itself, which the connection keeps to itself. */
export type Control = Of<'welcome'> | Of<'ack'> | Of<'error'> | Of<'resync'> | Of<'reconnect'>
export type Told = Exclude<ServerMessage, Control>
