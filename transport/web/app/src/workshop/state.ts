// The state of a workshop as one person sees it. A state is never modified, so each state is a
// snapshot.
import type { components } from '../api/schema'
import type { Of } from '../live/protocol'
import { noPolls, type Polls } from '../polls/polls'
import { noQuestions, type Questions } from '../questions/questions'
import { unstamped, type Stamped } from './stamped'

type S = components['schemas']

export type Codelab = S['Codelab']
export type Step = S['Step']
export type Attendee = S['Attendee']
export type HelpRequest = S['HelpRequest']
export type ChatMessage = S['ChatMessage']
export type Thread = S['Thread']
export type Quiz = S['Quiz']
export type Material = S['Material']
export type Submission = S['Submission']
export type Poll = S['Poll']
/** The content of a vote, without its round. */
export type Vote = Omit<S['Vote'], 'round'>
export type PollDraft = S['PollUpdate']
export type Question = S['Question']
export type Timer = S['Timer']
export type Spotlight = S['Spotlight']
export type Pulse = 'fine' | 'slow' | 'stuck'

/**
 * The number of people on each step (per_step, with the first step at index 0), and of connected
 * people.
 */
export type Summary = Readonly<Of<'progress_summary'>>

/**
 * A part that a message reported as changed without its new value, so that it must be read again.
 */
export type Again = 'codelab' | 'threads' | 'attendees' | 'chat' | 'quizzes' | 'materials' | 'polls' | 'questions'

export interface Workshop {
  /** The person who sees this state: an attendee's id, or "facilitator". */
  readonly me: string
  readonly codelab: Codelab
  readonly steps: readonly Step[]
  /** The attendees by id. An attendee receives only their own record. */
  readonly people: ReadonlyMap<string, Attendee>
  /** The ids of the connected attendees. Only facilitators receive them. */
  readonly here: ReadonlySet<string>
  /** The open requests for help. An attendee receives only their own. */
  readonly help: readonly HelpRequest[]
  /** Chat, direct messages and broadcasts, oldest first. */
  readonly chat: readonly ChatMessage[]
  /** Whether the server has older messages. */
  readonly olderChat: boolean
  readonly threads: readonly Thread[]
  readonly summary: Summary | null
  readonly polls: Polls
  readonly questions: Questions
  readonly timer: Stamped<Timer | null>
  /** The content of the projector. */
  readonly spotlight: Stamped<Spotlight | null>
  /** The parts to read again. A read removes its part. */
  readonly again: ReadonlySet<Again>
  /** Whether the codelab was deleted. */
  readonly gone: boolean
}

/** The id of all facilitators as a group. */
export const facilitator = 'facilitator'
/** The server's name for facilitators without a name. Several facilitators can have this name. */
export const unnamed = 'Facilitator'

/** The number of messages to which a long chat is shortened. Scrolling up loads older messages. */
export const chatHeld = 300

/** The state after only the text has been read. */
export function workshop(me: string, codelab: Codelab, steps: readonly Step[]): Workshop {
  return {
    me,
    codelab,
    steps,
    people: new Map(),
    here: new Set(),
    help: [],
    chat: [],
    olderChat: false,
    threads: [],
    summary: null,
    polls: noPolls,
    questions: noQuestions,
    timer: unstamped(codelab.timer ?? null),
    spotlight: unstamped(codelab.spotlight ?? null),
    again: new Set(),
    gone: false,
  }
}
