// This app's messages about screens. The server forwards them unchanged and adds the sender. Other
// programs can also send such messages, so messages that lack this app's mark or a required member
// are ignored.
import type { Signal } from '../live/room.svelte'

const app = 'atelier'

/** One step of the WebRTC signalling. */
export interface Step {
  description?: RTCSessionDescriptionInit
  candidate?: RTCIceCandidateInit
}

interface From {
  /** The person: an attendee's id, or "facilitator". */
  readonly person: string
  readonly name: string
}

export type Heard = From &
  (
    | { is: 'status'; share: string; active: boolean; only: string | null; ask: string | null }
    | { is: 'ask'; ask: string; from: string | null }
    | { is: 'declined' | 'over'; ask: string }
    | { is: 'watch'; share: string; from: string }
    | { is: 'leave'; share: string; from: string }
    | { is: 'full' | 'end'; share: string; to: string }
    | ({ is: 'step'; share: string; from: string; to: string } & Step)
  )

export type Said =
  | { is: 'ask'; ask: string; from: string }
  | { is: 'declined' | 'over'; ask: string }
  | { is: 'watch' | 'leave'; share: string; from: string }
  | { is: 'full' | 'end'; share: string; to: string }
  | ({ is: 'step'; share: string; from: string; to: string } & Step)

/** A message to one person. */
export const signalTo = (person: string, said: Said) => ({ type: 'webrtc_signal', target_id: person, app, ...said })

/**
 * Announces that a screen is shown, or no longer shown. share identifies the screen. only is the
 * name of the facilitator who can see the screen, or null for everybody. ask is the id of the
 * request for the screen, or null without a request.
 */
export function status(role: 'admin' | 'attendee', share: string, active: boolean, only: string | null = null, ask: string | null = null) {
  return role === 'admin' ? { type: 'screen_share_status', app, active, share } : { type: 'attendee_screen_status', app, active, share, only, ask }
}

const isId = (v: unknown): v is string => typeof v === 'string' && /^[\w-]{8,64}$/.test(v)
const isText = (v: unknown): v is string => typeof v === 'string' && v.length > 0 && v.length <= 200

/** Parses a signal. Returns null if the signal is not for this app. */
export function heard(signal: Signal): Heard | null {
  const s = signal as unknown as Record<string, unknown>
  if (s.app !== app || !isText(s.sender_id) || typeof s.sender !== 'string') return null
  const who = { person: s.sender_id, name: s.sender }
  if (s.type !== 'webrtc_signal') {
    if (!isId(s.share) || typeof s.active !== 'boolean') return null
    return { ...who, is: 'status', share: s.share, active: s.active, only: isText(s.only) ? s.only : null, ask: isId(s.ask) ? s.ask : null }
  }
  switch (s.is) {
    case 'ask':
      return isId(s.ask) ? { ...who, is: s.is, ask: s.ask, from: isId(s.from) ? s.from : null } : null
    case 'declined':
    case 'over':
      return isId(s.ask) ? { ...who, is: s.is, ask: s.ask } : null
    case 'watch':
    case 'leave':
      return isId(s.share) && isId(s.from) ? { ...who, is: s.is, share: s.share, from: s.from } : null
    case 'full':
    case 'end':
      return isId(s.share) && isId(s.to) ? { ...who, is: s.is, share: s.share, to: s.to } : null
    case 'step': {
      if (!isId(s.share) || !isId(s.from) || !isId(s.to)) return null
      const step: Step = {}
      if (isObject(s.description)) step.description = s.description as unknown as RTCSessionDescriptionInit
      else if (isObject(s.candidate)) step.candidate = s.candidate as RTCIceCandidateInit
      else return null
      return { ...who, is: 'step', share: s.share, from: s.from, to: s.to, ...step }
    }
    default:
      return null
  }
}

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !Array.isArray(v)
