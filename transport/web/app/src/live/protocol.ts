// The messages of the AsyncAPI document, from which their types are made.
import type { components } from './messages'

type S = components['schemas']

/** What the server sends. */
export type ServerMessage =
  | S['Welcome']
  | S['Ack']
  | S['Error']
  | S['Resync']
  | S['Reconnect']
  | S['Chat']
  | S['DirectMessage']
  | S['StepProgress']
  | S['HelpRequest']
  | S['HelpClaimed']
  | S['HelpResolved']
  | S['InlineCommentChanged']
  | S['AttendeeCompleted']
  | S['AttendeeRenamed']
  | S['AttendeeMuted']
  | S['ChatDeleted']
  | S['StepsChanged']
  | S['CodelabChanged']
  | S['CodelabDeleted']
  | S['AttendeeJoined']
  | S['AttendeeLeft']
  | S['ProgressSummary']
  | S['Pulse']
  | S['Broadcast']
  | S['PinChanged']
  | S['Pointer']
  | S['ScreenShareStatus']
  | S['AttendeeScreenStatus']
  | S['WebRTCSignal']

export type Welcome = S['Welcome']
export type You = Welcome['you']

/** The messages of one type. */
export type Of<T extends ServerMessage['type']> = Extract<ServerMessage, { type: T }>

/** Messages about the connection itself, which the connection keeps to itself. */
export type Control = Of<'welcome'> | Of<'ack'> | Of<'error'> | Of<'resync'> | Of<'reconnect'>
export type Told = Exclude<ServerMessage, Control>
