// Applies messages of the stream to the state. The functions have no side effects. The stream can
// repeat messages that a read already contains, so applying a message twice has no further effect.
import type { Told } from '../live/protocol'
import { heldFrom } from './chat'
import { changeNeedsRead, countsAreAhead, pollChanged, pollCounts } from '../polls/polls'
import { questionChanged, questionVotes } from '../questions/questions'
import { chatMessage, helpRequest, pointer, pulse } from './records'
import { newer } from './stamped'
import { chatHeld, facilitator, type Again, type Attendee, type ChatMessage, type HelpRequest, type Workshop } from './state'

/** Applies messages in order. The given state is not changed. */
export function apply(before: Workshop, messages: readonly Told[]): Workshop {
  const d = new Draft(before)
  for (const m of messages) d.tell(m)
  return d.done()
}

/** Removes the mark of a part that is being read again. */
export function readAgain(before: Workshop, what: Again): Workshop {
  const again = new Set(before.again)
  again.delete(what)
  return { ...before, again }
}

/** A state that is being changed. It copies each collection at its first change, once per batch. */
class Draft {
  #w: Workshop
  #own = new Set<keyof Workshop>()

  constructor(w: Workshop) {
    this.#w = { ...w }
  }

  done(): Workshop {
    return this.#w
  }

  #set<K extends keyof Workshop>(key: K, value: Workshop[K]) {
    ;(this.#w as { [P in K]: Workshop[P] })[key] = value
  }

  #people(): Map<string, Attendee> {
    if (!this.#own.has('people')) {
      this.#own.add('people')
      this.#set('people', new Map(this.#w.people))
    }
    return this.#w.people as Map<string, Attendee>
  }

  #here(): Set<string> {
    if (!this.#own.has('here')) {
      this.#own.add('here')
      this.#set('here', new Set(this.#w.here))
    }
    return this.#w.here as Set<string>
  }

  #chat(): ChatMessage[] {
    if (!this.#own.has('chat')) {
      this.#own.add('chat')
      this.#set('chat', [...this.#w.chat])
    }
    return this.#w.chat as ChatMessage[]
  }

  #readAgain(what: Again) {
    if (!this.#w.again.has(what)) this.#set('again', new Set(this.#w.again).add(what))
  }

  #person(id: string, change: (a: Attendee) => Partial<Attendee>) {
    const a = this.#w.people.get(id)
    if (a) this.#people().set(id, { ...a, ...change(a) })
  }

  #said(m: ChatMessage) {
    const chat = this.#chat()
    // A message can already be in the chat from a read. A new message is usually the newest, so the
    // search starts at the end.
    for (let i = chat.length - 1; i >= 0 && chat[i]!.id >= m.id; i--) {
      if (chat[i]!.id === m.id) return
    }
    let at = chat.length
    while (at > 0 && chat[at - 1]!.id > m.id) at--
    chat.splice(at, 0, m)
    const from = chat.length > 3 * chatHeld ? heldFrom(chat, chatHeld) : 0
    if (from > 0) {
      chat.splice(0, from)
      this.#set('olderChat', true)
    }
  }

  #help(id: string, change: (old: HelpRequest | undefined) => HelpRequest | null) {
    const old = this.#w.help.find((h) => h.id === id)
    const next = change(old)
    if (next === null) {
      if (old)
        this.#set(
          'help',
          this.#w.help.filter((h) => h.id !== id),
        )
    } else if (old) {
      this.#set(
        'help',
        this.#w.help.map((h) => (h.id === id ? next : h)),
      )
    } else {
      this.#set('help', [...this.#w.help, next])
    }
  }

  tell(m: Told) {
    const w = this.#w
    switch (m.type) {
      case 'chat':
      case 'dm':
      case 'broadcast':
        this.#said(chatMessage(w.codelab.id, m))
        return
      case 'pin_changed':
        this.#set('codelab', { ...w.codelab, pin: m.pin })
        return
      case 'pointer':
        this.#set('codelab', { ...w.codelab, pointer: pointer(m) })
        return
      case 'pulse':
        // The person's own step can be ahead of the stream (Room.assume). A late pulse for the
        // previous step is then ignored.
        this.#person(m.attendee_id, (a) => (a.id === w.me && a.current_step !== m.step_number ? {} : { pulse: pulse(m) }))
        return
      case 'chat_deleted':
        if (w.chat.some((c) => c.id === m.id)) {
          this.#own.add('chat')
          this.#set(
            'chat',
            w.chat.filter((c) => c.id !== m.id),
          )
        }
        return
      case 'step_progress':
        this.#person(m.attendee_id, (a) => ({
          current_step: m.step_number,
          furthest_step: Math.max(a.furthest_step, m.step_number),
          ...(a.current_step === m.step_number ? {} : { step_since: m.ts }),
          // A mood belongs to a step. If the stream repeats messages that a read already contains,
          // the record can have the mood for an earlier step, although the person is on the new
          // step.
          ...(a.pulse && a.pulse.step_number !== m.step_number ? { pulse: null } : {}),
        }))
        return
      case 'attendee_completed':
        this.#person(m.attendee_id, (a) => ({ is_completed: true, completed_at: a.completed_at ?? m.ts }))
        return
      case 'check':
        this.#person(m.attendee_id, (a) => ({
          checks: [...a.checks.filter((c) => c.name !== m.name), { name: m.name, ok: m.ok, note: m.note, at: m.ts, tries: m.tries }].sort((x, y) =>
            x.name < y.name ? -1 : 1,
          ),
        }))
        return
      case 'code_taken':
        this.#person(m.attendee_id, () => ({ code_taken: { name: m.name, at: m.ts } }))
        return
      case 'attendee_renamed':
        this.#person(m.attendee_id, () => ({ name: m.name }))
        this.#set(
          'help',
          w.help.map((h) => (h.attendee_id === m.attendee_id ? { ...h, attendee_name: m.name } : h)),
        )
        return
      case 'attendee_muted':
        this.#person(m.attendee_id, () => ({ muted: m.muted }))
        return
      case 'attendee_joined':
        this.#here().add(m.attendee.id)
        if (!w.people.has(m.attendee.id)) this.#readAgain('attendees')
        return
      case 'attendee_left':
        this.#here().delete(m.attendee.id)
        return
      case 'progress_summary':
        this.#set('summary', m)
        return
      case 'help_request':
      case 'help_claimed':
        this.#help(m.id, (old) => helpRequest(w.codelab.id, m, old))
        return
      case 'help_released':
        this.#help(m.id, (old) => (old ? { ...old, status: 'pending', claimed_by: null, person: null } : null))
        return
      case 'attendee_placed':
        this.#person(m.attendee_id, () => ({ place: m.place }))
        this.#set(
          'help',
          w.help.map((h) => (h.attendee_id === m.attendee_id ? { ...h, place: m.place } : h)),
        )
        return
      case 'help_resolved':
        this.#help(m.id, () => null)
        return
      case 'poll_changed':
        if (changeNeedsRead(w.polls, m, w.me === facilitator)) this.#readAgain('polls')
        this.#set('polls', pollChanged(w.polls, m))
        return
      case 'poll_counts':
        if (countsAreAhead(w.polls, m)) this.#readAgain('polls')
        else this.#set('polls', pollCounts(w.polls, m))
        return
      case 'question_changed':
        this.#set('questions', questionChanged(w.questions, m, w.me))
        return
      case 'question_votes':
        this.#set('questions', questionVotes(w.questions, m))
        return
      case 'timer_changed':
        this.#set('timer', newer(w.timer, m.timer, m.seq))
        return
      case 'spotlight_changed':
        this.#set('spotlight', newer(w.spotlight, m.kind === null ? null : { kind: m.kind, id: m.id }, m.seq))
        return
      case 'inline_comment_changed':
        this.#readAgain('threads')
        return
      case 'steps_changed':
        this.#readAgain('codelab')
        this.#readAgain('attendees') // the attendees' step numbers may have changed
        this.#readAgain('threads')
        return
      case 'codelab_changed':
        this.#readAgain('codelab')
        if (w.codelab.rehearsal) this.#readAgain('attendees') // the rehearsal may be over, and its people removed
        this.#readAgain('quizzes')
        this.#readAgain('materials')
        return
      case 'codelab_deleted':
        this.#set('gone', true)
        return
      default:
        return // signals between people are not part of the state
    }
  }
}
