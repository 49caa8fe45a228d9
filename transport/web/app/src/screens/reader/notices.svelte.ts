// Collects news for an attendee. Screen readers announce the news, the notice line shows messages
// to the attendee, and messages are counted while the chat is closed.
import type { Told } from '../../live/protocol'
import { about } from '../../device/moments'
import { serverNow } from '../../device/now'
import { m } from '../../messages/compiled/messages.js'
import { announce, announceNow } from '../../parts/announcer.svelte'
import { toast } from '../../parts/toasts.svelte'
import { labelOf } from '../../timer/words'
import { secondsLeft } from '../../timer/timer'
import { Unread } from '../../talk/unread.svelte'
import { otherEnd } from '../../workshop/chat'
import type { ChatMessage } from '../../workshop/state'
import type { Reading } from './reading.svelte'

/** The display time of temporary notices, in milliseconds. */
const passing = 10_000

export class Notices {
  readonly #reading: Reading
  /** The number of messages since the chat was last open. */
  unread = $state(0)
  /** The latest unseen broadcast, or answer to the attendee's request for help. */
  banner = $state.raw<{ id: string; text: string; answer: boolean } | null>(null)

  readonly #direct: Unread
  /** A change of the attendee's own question or request. */
  news = $state.raw<{ id: string; text: string } | null>(null)
  /** The step whose hints were just opened, and whether the timer has just run out. */
  hints = $state<number | null>(null)
  timeUp = $state(false)
  #hintsEnd: ReturnType<typeof setTimeout> | undefined
  #timeUpEnd: ReturnType<typeof setTimeout> | undefined

  constructor(reading: Reading) {
    this.#reading = reading
    this.#direct = new Unread(reading.room)
  }

  /** The unread direct messages, oldest first. */
  get direct(): readonly ChatMessage[] {
    return this.#direct.list
  }

  /** Whether any notice exists. */
  readonly told = $derived.by(() => this.banner !== null || this.direct.length > 0 || this.news !== null || this.hints !== null || this.timeUp)

  /** Called when the timer has ended while the page was open. */
  over(): void {
    this.timeUp = true
    clearTimeout(this.#timeUpEnd)
    this.#timeUpEnd = setTimeout(() => (this.timeUp = false), passing)
  }

  /** Called when the chat has been loaded. Earlier unread direct messages are then also shown. */
  begin(): void {
    this.#direct.begin()
  }

  /** Called when the messages with a person were read or answered. */
  readDirect(person: string): void {
    const me = this.#reading.room.now?.me ?? ''
    this.#direct.read((x) => otherEnd(x, me) === person)
  }

  /** Dismisses one message, which stays in the chat. */
  later(message: ChatMessage): void {
    this.#direct.read((x) => x.id === message.id)
  }

  /**
   * Handles arrived messages. missed means that they were sent while the connection was
   * interrupted.
   */
  heard(told: readonly Told[], missed: boolean): void {
    for (const t of told) {
      this.#say(t, missed)
      this.#count(t)
      if (t.type === 'help_request' || t.type === 'help_claimed' || t.type === 'help_released' || t.type === 'help_resolved')
        void this.#reading.help.read().catch(() => {})
    }
  }

  /** Called when the chat is open. No message is unread then. */
  read(): void {
    this.unread = 0
  }

  /** Called when the person has seen the banner. */
  seen(): void {
    this.banner = null
  }

  #own(t: Told): boolean {
    return 'sender_id' in t && t.sender_id === this.#reading.room.now?.me
  }

  #say(t: Told, missed: boolean) {
    switch (t.type) {
      case 'broadcast':
        this.banner = { id: t.id, text: t.message, answer: false }
        announceNow(m.broadcast_heard({ text: t.message }))
        return
      case 'dm':
        if (!this.#own(t)) {
          announce(m.dm_heard({ name: t.sender, text: t.message }))
          this.#direct.add(t.id)
        } else if (t.target_id) this.readDirect(t.target_id)
        return
      case 'chat':
        // Missed messages are not announced, because announcing many of them would take minutes.
        if (!this.#own(t) && this.#reading.panel === 'chat' && !missed) announce(m.chat_heard({ name: t.sender, text: t.message }))
        return
      case 'help_request':
        announce(m.help_asked())
        return
      case 'help_claimed':
        announce(m.help_coming({ name: t.claimed_by }))
        return
      case 'help_released':
        this.#tell(t.id, t.reason ? m.help_released_why({ reason: t.reason }) : m.help_released())
        return
      case 'help_resolved':
        if (t.message) {
          this.banner = { id: t.id, text: t.message, answer: true }
          announceNow(m.help_answer_heard({ text: t.message }))
        } else if (!this.#reading.help.closed(t.id)) toast(m.help_solved_for_you())
        return
      case 'pin_changed':
        if (t.pin) announce(m.pin_heard({ text: t.pin.message }))
        return
      case 'timer_changed':
        if (!missed) announce(t.timer ? m.timer_heard({ label: labelOf(t.timer), time: about(secondsLeft(t.timer, serverNow())) }) : m.timer_heard_cleared())
        return
      case 'question_changed': {
        const now = this.#reading.room.now?.questions.byId.get(t.question_id)
        if (now?.mine && now.state === 'answered') this.#tell(t.question_id, now.answer ? m.question_heard_answered() : m.question_heard_aloud())
        return
      }
      case 'pointer':
        if (t.step_number !== null && t.hints && !missed) {
          this.hints = t.step_number
          clearTimeout(this.#hintsEnd)
          this.#hintsEnd = setTimeout(() => (this.hints = null), passing)
        }
        if (t.step_number !== null) announce(t.hints ? m.hints_heard({ step: t.step_number }) : m.pointer_heard({ step: t.step_number }))
        return
    }
  }

  #tell(id: string, text: string) {
    this.news = { id, text }
    announce(text)
  }

  #count(t: Told) {
    const said = t.type === 'chat' || t.type === 'dm' || t.type === 'broadcast'
    if (said && !this.#own(t) && this.#reading.panel !== 'chat') this.unread++
  }
}
