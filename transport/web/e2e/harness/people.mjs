const sessionCookie = 'svc_session'
const csrfCookie = 'svc_csrf'

/** The error of a request that the server refused. */
export class Refused extends Error {
  constructor(what, status, body) {
    super(`${what}: ${status} ${typeof body === 'string' ? body.slice(0, 200) : JSON.stringify(body)}`)
    this.status = status
    this.body = body
  }
}

/** Somebody who uses the server over REST, with their cookies and the CSRF token for writes. */
export class Person {
  /** @type {Map<string, string>} */
  cookies = new Map()
  /** Set for attendees. */
  id = ''
  name = ''
  /** The code with which an attendee returns. */
  code = ''
  #server

  /** @param {{url: string}} server */
  constructor(server) {
    this.#server = server
  }

  /**
   * Makes a request below /api. Returns the decoded response, or its text if it is not JSON. Throws
   * Refused if the server refuses the request.
   *
   * @param {string} method
   * @param {string} path  below /api, with its slash
   * @param {unknown} [body]  is sent as JSON; FormData is sent unchanged
   * @param {Record<string, string>} [headers]
   */
  async send(method, path, body, headers = {}) {
    const form = body instanceof FormData
    const answer = await fetch(`${this.#server.url}/api${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.cookies.size ? { Cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ') } : {}),
        ...(method !== 'GET' && this.cookies.has(csrfCookie) ? { 'X-CSRF-Token': this.cookies.get(csrfCookie) } : {}),
        ...(body !== undefined && !form ? { 'Content-Type': 'application/json' } : {}),
        ...headers,
      },
      body: body === undefined || form ? body : JSON.stringify(body),
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (name && value) this.cookies.set(name, value)
      else if (name) this.cookies.delete(name)
    }
    const text = await answer.text()
    let got = text
    if (/json/.test(answer.headers.get('Content-Type') ?? '') && text) got = JSON.parse(text)
    if (!answer.ok) throw new Refused(`${method} ${path}`, answer.status, got)
    return got
  }

  get = (path) => this.send('GET', path)
  post = (path, body) => this.send('POST', path, body)
  put = (path, body) => this.send('PUT', path, body)
  patch = (path, body) => this.send('PATCH', path, body)
  delete = (path) => this.send('DELETE', path)

  /** Logs in as the owner, under a name that others see. */
  async login(displayName = 'Facilitator') {
    await this.post('/login', { admin_id: this.#server.adminId, admin_pw: this.#server.adminPw, display_name: displayName })
    return this
  }

  /**
   * Creates a codelab. A step is Markdown, with the first heading as its title, or a record of the
   * API.
   *
   * @param {{title?: string, steps?: (string | object)[]}} [record]
   *   further fields become fields of the codelab
   * @returns {Promise<{id: string, title: string, steps: {id: string, step_number: number, title: string}[]}>}
   */
  async codelab({ steps = ['# One\n\nThe first step.', '# Two\n\nThe second step.', '# Three\n\nThe third step.'], ...record } = {}) {
    const made = await this.post('/codelabs', { title: 'A codelab', ...record })
    const whole = (step, i) => {
      if (typeof step !== 'string') return step
      const [, title, text] = /^#+ ([^\n]+)\n*([^]*)$/.exec(step) ?? [null, `Step ${i + 1}`, step]
      return { title, content_markdown: text }
    }
    await this.put(`/codelabs/${made.id}/steps`, { steps: steps.map(whole) })
    const [read, kept] = await this.get(`/codelabs/${made.id}`)
    return { ...read, steps: kept }
  }

  /** Registers as an attendee of a codelab. */
  async register(codelab, name, code = '4711') {
    const made = await this.post(`/codelabs/${codelab.id}/register`, { name, code })
    Object.assign(this, { id: made.id, name: made.name, code })
    return this
  }

  /**
   * Sends a message to a codelab's room, in the form of the socket: {type: 'chat', message: '…'}.
   */
  async say(codelab, message) {
    return this.post(`/codelabs/${codelab.id}/messages`, { ref: crypto.randomUUID(), ...message })
  }

  /** The person's cookies for a browser context, for the server at url. */
  browserCookies(url = this.#server.url) {
    return [...this.cookies].map(([name, value]) => ({ name, value, url, httpOnly: name === sessionCookie, sameSite: 'Lax' }))
  }
}
