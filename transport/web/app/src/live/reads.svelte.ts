// Reads a codelab's data over REST, for one role.
import { api, ask, askAt, asked, position } from '../api/client'
import { noteTime } from '../device/now'
import { mergeChat, ofRoom } from '../workshop/chat'
import { noPolls, pollsRead } from '../polls/polls'
import { noQuestions, questionsRead } from '../questions/questions'
import { newer, unstamped } from '../workshop/stamped'
import type { Found } from './meanwhile'
import type { Again, Attendee, ChatMessage, Material, Quiz, Workshop } from '../workshop/state'

export type Role = 'admin' | 'attendee'

/**
 * The maximum error of the time in a response's body, and of its Date header, in milliseconds. A
 * Date header has only whole seconds.
 */
const answerAge = 1000
const dateAge = 2000

/** The number of chat messages in one read. */
const chatPage = 200
/** The maximum number of chat messages that the server returns in one read. */
const deepPage = 1000

/** The result of reading a part. It is already based on the current state. */
interface PartFound extends Found {
  readonly part: Partial<Workshop>
}

const nothing: PartFound = { part: {}, at: null }

/** The input of a read: the person who reads, and the current state. */
export interface Known {
  readonly now: Workshop | null
  readonly you: { readonly id: string } | null
}

export class Reads {
  quizzes = $state.raw<readonly Quiz[] | null>(null)
  materials = $state.raw<readonly Material[] | null>(null)
  readonly #id: string
  readonly #role: Role
  readonly #known: Known

  constructor(id: string, role: Role, known: Known) {
    this.#id = id
    this.#role = role
    this.#known = known
  }

  get #as() {
    return { as: this.#role } as { as?: Role }
  }

  get #path() {
    return { params: { path: { id: this.#id }, query: this.#as } }
  }

  /** The codelab with its steps, timer and projector. */
  async text(): Promise<Pick<Workshop, 'codelab' | 'steps' | 'timer' | 'spotlight'>> {
    return (await this.#text()).part
  }

  async #text() {
    const sent = Date.now()
    const { data, response } = await asked(api.GET('/codelabs/{id}', this.#path))
    const [codelab, steps] = data as unknown as [Workshop['codelab'], Workshop['steps']]
    tellTime(codelab.now, response.headers, sent)
    const at = position(response.headers)
    const { now } = this.#known
    const timer = newer(now?.timer ?? unstamped(null), codelab.timer ?? null, at)
    const spotlight = newer(now?.spotlight ?? unstamped(null), codelab.spotlight ?? null, at)
    return { part: { codelab, steps, timer, spotlight }, at }
  }

  /** Everything except the text. */
  async others(): Promise<Partial<Workshop>> {
    const parts = await Promise.all([
      this.part('attendees'),
      this.part('chat'),
      this.part('threads'),
      this.#help(),
      this.part('quizzes'),
      this.part('materials'),
      this.part('polls'),
      this.part('questions'),
    ])
    return Object.assign({}, ...parts.map((found) => found.part)) as Partial<Workshop>
  }

  /**
   * Reads one changed part of the workshop. Quizzes and materials are kept in this object, not in
   * the workshop's state.
   */
  async part(what: Again): Promise<PartFound> {
    switch (what) {
      case 'codelab':
        return this.#text()
      case 'attendees':
        return this.#role === 'attendee' ? this.#own() : this.#everybody()
      case 'chat':
        return this.#chat()
      case 'threads': {
        const { data, at } = await askAt(api.GET('/codelabs/{id}/inline-comments', this.#path))
        return { part: { threads: data }, at }
      }
      case 'quizzes':
        this.quizzes = await ask(api.GET('/codelabs/{id}/quizzes', this.#path))
        return nothing
      case 'materials':
        this.materials = await ask(api.GET('/codelabs/{id}/materials', this.#path))
        return nothing
      case 'polls':
        return this.#polls()
      case 'questions':
        return this.#questions()
    }
  }

  async attendee(id: string): Promise<Attendee> {
    return (await this.#attendee(id)).data
  }

  #attendee(id: string) {
    return askAt(api.GET('/codelabs/{id}/attendees/{attendee_id}', { params: { path: { id: this.#id, attendee_id: id }, query: this.#as } }))
  }

  /** The chat messages before a message, and whether there can be older ones. */
  async chatBefore(id: string): Promise<{ page: ChatMessage[]; more: boolean }> {
    const { data: page } = await this.#chatPage(chatPage, id)
    return { page, more: page.length === chatPage }
  }

  /**
   * Reads only the attendee's own record, because the records of thousands of people take
   * megabytes.
   */
  async #own(): Promise<PartFound> {
    const id = this.#known.you?.id ?? ''
    const { data, at } = await this.#attendee(id)
    return { part: { people: new Map([[id, data]]) }, at }
  }

  async #everybody(): Promise<PartFound> {
    // The two lists are read in parallel. People who join during the reads are added afterwards.
    const [{ data: people, at }, here] = await Promise.all([
      askAt(api.GET('/codelabs/{id}/attendees', this.#path)),
      ask(api.GET('/codelabs/{id}/presence', { params: { path: { id: this.#id } } })),
    ])
    const now = new Map(people.map((a: Attendee) => [a.id, a]))
    const known = this.#known.now
    // Requests of removed people are dropped. A person who is neither in the response nor in the
    // state joined during the read, so their request stays.
    const help = known?.help.filter((h) => now.has(h.attendee_id) || !known.people.has(h.attendee_id))
    return { part: { people: now, here: new Set(here.attendee_ids), ...(help && help.length < known!.help.length ? { help } : {}) }, at }
  }

  #chatPage(limit: number, before?: string) {
    const query = { ...this.#as, limit, ...(before === undefined ? {} : { before }) }
    return askAt(api.GET('/codelabs/{id}/chat', { params: { path: { id: this.#id }, query } }))
  }

  async #chat(): Promise<PartFound> {
    let limit = chatPage
    let { data: chat, at } = await this.#chatPage(limit)
    // A message to hundreds of people is stored as hundreds of direct messages, which can fill a
    // page. A larger page can also contain earlier messages to everybody.
    if (chat.length === limit && ofRoom(chat).length === 0) ({ data: chat, at } = await this.#chatPage((limit = deepPage)))
    const { now } = this.#known
    const merged = mergeChat(now?.chat ?? [], chat)
    return { part: { chat: merged, olderChat: merged.length > chat.length ? now!.olderChat : chat.length === limit }, at }
  }

  async #polls(): Promise<PartFound> {
    const { data, at } = await askAt(api.GET('/codelabs/{id}/polls', this.#path))
    return { part: { polls: pollsRead(this.#known.now?.polls ?? noPolls, data, at) }, at }
  }

  async #questions(): Promise<PartFound> {
    const { now } = this.#known
    // If questions are off, attendees need no list.
    if (this.#role === 'attendee' && (now?.codelab.questions ?? 'off') === 'off') return nothing
    const { data, at } = await askAt(api.GET('/codelabs/{id}/questions', this.#path))
    return { part: { questions: questionsRead(this.#known.now?.questions ?? noQuestions, data, at) }, at }
  }

  async #help(): Promise<PartFound> {
    // The server returns all requests of an attendee, even closed ones. The state contains only
    // open requests.
    const { data, at } = await askAt(api.GET('/codelabs/{id}/help', this.#path))
    return { part: { help: data.filter((h) => h.status !== 'resolved') }, at }
  }
}

/**
 * Reads the server's time from a response of known age. A response without a Date header can have
 * any age, and a response with an Age header comes from a cache, so both are ignored. A browser
 * that revalidates a cached response returns the old body with the current Date. The body's time is
 * therefore used only if it differs from Date by less than 3 seconds.
 */
function tellTime(now: string | undefined, headers: Headers, sent: number): void {
  const date = headers.get('Date')
  const made = Date.parse(date ?? '')
  if (date === null || Number.isNaN(made) || headers.has('Age')) return
  if (now !== undefined && Math.abs(Date.parse(now) - made) < 3000) noteTime(now, sent - answerAge, Date.now(), false)
  else noteTime(date, sent - dateAge, Date.now(), false)
}
