// Reads a codelab's data over REST, for one role.
import { api, ask, asked } from '../api/client'
import { noteTime } from '../device/now'
import { mergeChat, ofRoom } from '../workshop/chat'
import { noPolls, pollsRead } from '../polls/polls'
import { noQuestions, questionsRead } from '../questions/questions'
import { newer, unstamped } from '../workshop/stamped'
import type { Again, Attendee, ChatMessage, Material, Quiz, Workshop } from '../workshop/state'

export type Role = 'admin' | 'attendee'

/**
 * The maximum error of a response's time, in milliseconds, because a Date header has only whole
 * seconds.
 */
const answerAge = 1000
const dateAge = 2000

const chatPage = 200
/** The maximum page size of the server. */
const deepPage = 1000

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
    const sent = Date.now()
    const { data, response } = await asked(api.GET('/codelabs/{id}', this.#path))
    const [codelab, steps] = data as unknown as [Workshop['codelab'], Workshop['steps']]
    tellTime(codelab.now, response.headers, sent)
    const at = position(response.headers)
    const { now } = this.#known
    return {
      codelab,
      steps,
      timer: newer(now?.timer ?? unstamped(null), codelab.timer ?? null, at),
      spotlight: newer(now?.spotlight ?? unstamped(null), codelab.spotlight ?? null, at),
    }
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
    return Object.assign({}, ...parts) as Partial<Workshop>
  }

  /**
   * Reads one changed part of the workshop. Quizzes and materials are kept in this object, not in
   * the workshop's state.
   */
  async part(what: Again): Promise<Partial<Workshop>> {
    switch (what) {
      case 'codelab':
        return this.text()
      case 'attendees':
        return this.#role === 'attendee' ? { people: await this.#own() } : this.#everybody()
      case 'chat':
        return this.#chat()
      case 'threads':
        return { threads: await ask(api.GET('/codelabs/{id}/inline-comments', this.#path)) }
      case 'quizzes':
        this.quizzes = await ask(api.GET('/codelabs/{id}/quizzes', this.#path))
        return {}
      case 'materials':
        this.materials = await ask(api.GET('/codelabs/{id}/materials', this.#path))
        return {}
      case 'polls':
        return this.#polls()
      case 'questions':
        return this.#questions()
    }
  }

  async attendee(id: string): Promise<Attendee> {
    return ask(api.GET('/codelabs/{id}/attendees/{attendee_id}', { params: { path: { id: this.#id, attendee_id: id }, query: this.#as } }))
  }

  /** The chat messages before a message, and whether there are older ones. */
  async chatBefore(id: string): Promise<{ page: ChatMessage[]; more: boolean }> {
    const page = await this.#chatPage(chatPage, id)
    return { page, more: page.length === chatPage }
  }

  /**
   * Reads only the attendee's own record, because the records of thousands of people have
   * megabytes.
   */
  async #own(): Promise<Map<string, Attendee>> {
    const id = this.#known.you?.id ?? ''
    return new Map([[id, await this.attendee(id)]])
  }

  async #everybody(): Promise<Partial<Workshop>> {
    // The two lists are read in parallel. People who join during the reads are added afterwards.
    const [people, here] = await Promise.all([
      ask(api.GET('/codelabs/{id}/attendees', this.#path)),
      ask(api.GET('/codelabs/{id}/presence', { params: { path: { id: this.#id } } })),
    ])
    const now = new Map(people.map((a: Attendee) => [a.id, a]))
    const known = this.#known.now
    // Drop requests of removed people. A person who is missing from the list can have joined during
    // the read.
    const help = known?.help.filter((h) => now.has(h.attendee_id) || !known.people.has(h.attendee_id))
    return { people: now, here: new Set(here.attendee_ids), ...(help && help.length < known!.help.length ? { help } : {}) }
  }

  async #chatPage(limit: number, before?: string): Promise<ChatMessage[]> {
    const query = { ...this.#as, limit, ...(before === undefined ? {} : { before }) }
    return ask(api.GET('/codelabs/{id}/chat', { params: { path: { id: this.#id }, query } }))
  }

  async #chat(): Promise<Partial<Workshop>> {
    let limit = chatPage
    let chat = await this.#chatPage(limit)
    // A message to hundreds of people is stored as hundreds of direct messages, which can fill a
    // page. A larger page also contains the earlier messages to everybody.
    if (chat.length === limit && ofRoom(chat).length === 0) chat = await this.#chatPage((limit = deepPage))
    const { now } = this.#known
    const merged = mergeChat(now?.chat ?? [], chat)
    return { chat: merged, olderChat: merged.length > chat.length ? now!.olderChat : chat.length === limit }
  }

  async #polls(): Promise<Partial<Workshop>> {
    const { data, response } = await asked(api.GET('/codelabs/{id}/polls', this.#path))
    return { polls: pollsRead(this.#known.now?.polls ?? noPolls, data, position(response.headers)) }
  }

  async #questions(): Promise<Partial<Workshop>> {
    const { now } = this.#known
    // If questions are off, attendees need no list.
    if (this.#role === 'attendee' && (now?.codelab.questions ?? 'off') === 'off') return {}
    const { data, response } = await asked(api.GET('/codelabs/{id}/questions', this.#path))
    return { questions: questionsRead(this.#known.now?.questions ?? noQuestions, data, position(response.headers)) }
  }

  async #help(): Promise<Partial<Workshop>> {
    // The server returns all requests of an attendee, even closed ones. The state contains only
    // open requests.
    const all = await ask(api.GET('/codelabs/{id}/help', this.#path))
    return { help: all.filter((h) => h.status !== 'resolved') }
  }
}

/** The stream position in a response's headers, or null. */
function position(headers: Headers): number | null {
  const value = headers.get('X-Codelab-Seq')
  return value === null || !/^\d+$/.test(value) ? null : Number(value)
}

/**
 * Reads the server's time from a response of known age. A response without a Date header can have
 * any age, and a response from a cache on the network path has an Age header. When a browser
 * revalidates a cached response, it returns the old response with the current Date.
 */
function tellTime(now: string | undefined, headers: Headers, sent: number): void {
  const date = headers.get('Date')
  const made = Date.parse(date ?? '')
  if (date === null || Number.isNaN(made) || headers.has('Age')) return
  if (now !== undefined && Math.abs(Date.parse(now) - made) < 3000) noteTime(now, sent - answerAge, Date.now(), false)
  else noteTime(date, sent - dateAge, Date.now(), false)
}
