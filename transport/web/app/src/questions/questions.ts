// The questions of a workshop, which messages and reads update. The functions have no side effects.
import type { Of } from '../live/protocol'
import type { Question } from '../workshop/state'

export interface Questions {
  readonly byId: ReadonlyMap<string, Question>
  /** The position of the last message about each question, including deleted questions. */
  readonly changedAt: ReadonlyMap<string, number>
}

export const noQuestions: Questions = { byId: new Map(), changedAt: new Map() }

/**
 * Applies a question_changed message. me is the person's id. It identifies the person's own named
 * questions, which messages do not mark.
 */
export function questionChanged(questions: Questions, m: Of<'question_changed'>, me: string): Questions {
  if (m.seq <= (questions.changedAt.get(m.question_id) ?? -1)) return questions
  const byId = new Map(questions.byId)
  if (m.question === null) byId.delete(m.question_id)
  else {
    const old = questions.byId.get(m.question_id)
    byId.set(m.question_id, { ...m.question, mine: old?.mine ?? m.question.author_id === me, voted: old?.voted ?? false })
  }
  return { byId, changedAt: new Map(questions.changedAt).set(m.question_id, m.seq) }
}

/** Applies a question_votes message. Votes for unknown questions are ignored. */
export function questionVotes(questions: Questions, m: Of<'question_votes'>): Questions {
  const byId = new Map(questions.byId)
  for (const [id, votes] of Object.entries(m.votes)) {
    const old = byId.get(id)
    if (old) byId.set(id, { ...old, votes })
  }
  return { ...questions, byId }
}

/**
 * Applies a list that was read at a position (null if unknown). Messages after this position
 * override the list.
 */
export function questionsRead(before: Questions, list: readonly Question[], at: number | null): Questions {
  const newer = (id: string) => at !== null && (before.changedAt.get(id) ?? -1) > at
  const byId = new Map<string, Question>()
  for (const q of list) if (!newer(q.id)) byId.set(q.id, q)
  for (const [id, q] of before.byId) {
    // mine and voted come from the read, because messages lack them.
    const read = list.find((r) => r.id === id)
    if (newer(id)) byId.set(id, read ? { ...q, mine: read.mine, voted: read.voted } : q)
  }
  return { byId, changedAt: before.changedAt }
}

/**
 * Applies the response to the person's own request about a question. at is the response's position
 * (null if unknown). A message after this position overrides everything except mine and voted.
 */
export function questionAnswered(questions: Questions, answer: Question, at: number | null): Questions {
  if (at !== null && (questions.changedAt.get(answer.id) ?? -1) > at) {
    const old = questions.byId.get(answer.id)
    if (!old) return questions
    return { ...questions, byId: new Map(questions.byId).set(answer.id, { ...old, mine: answer.mine, voted: answer.voted }) }
  }
  return { ...questions, byId: new Map(questions.byId).set(answer.id, answer) }
}

export function questionRemoved(questions: Questions, id: string): Questions {
  const byId = new Map(questions.byId)
  byId.delete(id)
  return { ...questions, byId }
}

const oldestFirst = (a: Question, b: Question) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : a.id < b.id ? -1 : 1)
const byVotes = (a: Question, b: Question) => b.votes - a.votes || oldestFirst(a, b)
const rank: Record<Question['state'], number> = { waiting: 0, open: 1, answered: 2, hidden: 3 }

/**
 * Sorts questions by state: waiting, open, answered, hidden. Waiting questions are sorted by age,
 * others by votes.
 */
export function ranked(questions: Questions): Question[] {
  return [...questions.byId.values()].toSorted((a, b) => rank[a.state] - rank[b.state] || (a.state === 'waiting' ? oldestFirst(a, b) : byVotes(a, b)))
}

export const waitingCount = (questions: Questions): number => [...questions.byId.values()].filter((q) => q.state === 'waiting').length
