// Types of polls, questions, timer and spotlight until the server's documents have them.

export interface Poll {
  id: string
  kind: 'choice' | 'several' | 'scale' | 'words' | 'text'
  question: string
  options: string[]
  anonymous: boolean
  step_id: string | null
  right: number[] | null
  state: 'draft' | 'open' | 'closed'
  shown: boolean
  round: number
  opened_at: string | null
  ends_at: string | null
  votes: number
  of: number
  counts: number[] | null
  words: { word: string; votes: number }[] | null
  too_few: boolean
  void: boolean
  mine?: Vote | { voted: true } | null
  missing?: string[]
}

export type Vote = { choice: number[] } | { scale: number } | { words: string[] } | { text: string }

export interface Question {
  id: string
  text: string
  author_id: string | null
  author_name: string | null
  anonymous: boolean
  step_id: string | null
  state: 'waiting' | 'open' | 'answered' | 'hidden'
  answer: string | null
  answered_by: string | null
  votes: number
  mine: boolean
  voted: boolean
  created_at: string
}

export interface Timer {
  ends_at: string
  label: string
  kind: 'exercise' | 'break'
  by: string
  total_seconds: number
}

export interface Spotlight {
  kind: 'poll' | 'question' | 'timer'
  id: string | null
}

export interface CodelabMembers {
  questions?: 'off' | 'open' | 'checked'
  questions_anonymous?: boolean
  poll?: Poll | null
  timer?: Timer | null
  spotlight?: Spotlight | null
  now?: string
}

interface Stored {
  seq: number
  ts: string
}
export type RoomMessage =
  | ({ type: 'poll_changed'; poll_id: string; poll: Poll | null } & Stored)
  | { type: 'poll_counts'; poll_id: string; round: number; votes: number; of: number; counts?: number[] | null; words?: Poll['words'] }
  | ({ type: 'question_changed'; question_id: string; question: Omit<Question, 'mine' | 'voted'> | null } & Stored)
  | { type: 'question_votes'; votes: Record<string, number> }
  | ({ type: 'timer_changed'; timer: Timer | null } & Stored)
  | ({ type: 'spotlight_changed'; kind: Spotlight['kind'] | null; id: string | null } & Stored)

interface Op<P, B, R> {
  parameters: { query?: { as?: 'admin' | 'attendee'; after?: string }; header?: never; path: P; cookie?: never }
  requestBody?: { content: { 'application/json': B } }
  responses: { 200: { headers: { [name: string]: unknown }; content: { 'application/json': R } } }
}
type At<O> = { parameters: { query?: never; header?: never; path?: never; cookie?: never } } & O
interface Lab {
  id: string
}
interface OfPoll extends Lab {
  poll_id: string
}
interface OfQuestion extends Lab {
  question_id: string
}
export type PollDraft = Partial<Pick<Poll, 'kind' | 'question' | 'options' | 'anonymous' | 'step_id' | 'right'>>
export interface RoomPaths {
  '/codelabs/{id}/polls': At<{ get: Op<Lab, never, Poll[]>; post: Op<Lab, PollDraft | { lines: string } | { quiz_id: string }, Poll> }>
  '/codelabs/{id}/polls/{poll_id}': At<{ put: Op<OfPoll, PollDraft, Poll>; delete: Op<OfPoll, never, never> }>
  '/codelabs/{id}/polls/{poll_id}/open': At<{ post: Op<OfPoll, { seconds?: number }, Poll> }>
  '/codelabs/{id}/polls/{poll_id}/close': At<{ post: Op<OfPoll, never, Poll> }>
  '/codelabs/{id}/polls/{poll_id}/show': At<{ post: Op<OfPoll, { shown: boolean }, Poll> }>
  '/codelabs/{id}/polls/{poll_id}/reset': At<{ post: Op<OfPoll, never, Poll> }>
  '/codelabs/{id}/polls/{poll_id}/vote': At<{ put: Op<OfPoll, Vote & { round: number }, Poll>; delete: Op<OfPoll, never, Poll> }>
  '/codelabs/{id}/polls/{poll_id}/texts': At<{ get: Op<OfPoll, never, { id: string; text: string }[]> }>
  '/codelabs/{id}/questions': At<{ get: Op<Lab, never, Question[]>; post: Op<Lab, { text: string; anonymous?: boolean; step_id?: string }, Question> }>
  '/codelabs/{id}/questions/from': At<{ post: Op<Lab, { chat_id: string; text?: string } | { help_id: string; text: string }, Question> }>
  '/codelabs/{id}/questions/{question_id}': At<{
    put: Op<OfQuestion, { state?: Question['state']; answer?: string | null }, Question>
    delete: Op<OfQuestion, never, never>
  }>
  '/codelabs/{id}/questions/{question_id}/vote': At<{ put: Op<OfQuestion, never, Question>; delete: Op<OfQuestion, never, Question> }>
  '/codelabs/{id}/questions/{question_id}/merge': At<{ post: Op<OfQuestion, { into: string }, Question> }>
  '/codelabs/{id}/questions/{question_id}/stop': At<{ post: Op<OfQuestion, never, { status: string }> }>
  '/codelabs/{id}/timer': At<{
    put: Op<
      Lab,
      { seconds: number | null; label?: string; kind?: Timer['kind'] } | { ends_at: string; label?: string; kind?: Timer['kind'] },
      { status: string }
    >
  }>
  '/codelabs/{id}/spotlight': At<{ put: Op<Lab, { kind: Spotlight['kind'] | null; id?: string }, { status: string }> }>
}
