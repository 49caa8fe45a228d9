// Runs a small workshop with openapi-fetch and the types that openapi-typescript generates from
// /api/openapi.json. The server's URL and the administrator's login are in ATELIER_URL,
// ATELIER_ADMIN and ATELIER_PASSWORD.
import createClient, { type Client, type Middleware } from 'openapi-fetch'
import type { components, paths } from './atelier.js'

const { ATELIER_URL = '', ATELIER_ADMIN = '', ATELIER_PASSWORD = '' } = process.env
const newClient = (): Client<paths> => createClient<paths>({ baseUrl: `${ATELIER_URL}/api` })

/** A client that keeps its cookies, as a browser does by itself, and sends the CSRF token with them. */
function session(): Client<paths> {
  const cookies = new Map<string, string>()
  const keep: Middleware = {
    onRequest({ request }) {
      request.headers.set('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
      const csrf = cookies.get('svc_csrf')
      if (csrf) request.headers.set('X-CSRF-Token', csrf)
    },
    onResponse({ response }) {
      for (const cookie of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
        cookies.set(name, value)
      }
    },
  }
  const client = newClient()
  client.use(keep)
  return client
}

/** Returns the data of an operation that succeeded. */
function expect<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) {
    throw new Error(`${answer.response.status} ${answer.response.url}: ${JSON.stringify(answer.error)}`)
  }
  return answer.data
}

function assert(ok: boolean, about: string): asserts ok {
  if (!ok) throw new Error(about)
}

// A facilitator logs in. With the session, the facilitator creates an API token, which needs no
// CSRF token.
const browser = session()
expect(await browser.POST('/login', { body: { admin_id: ATELIER_ADMIN, admin_pw: ATELIER_PASSWORD } }))
const { token } = expect(await browser.POST('/admin/tokens', { body: { name: 'TypeScript' } }))
const lead = newClient()
lead.use({ onRequest: ({ request }) => request.headers.set('Authorization', `Bearer ${token}`) })

// The facilitator creates a codelab with two steps and a question.
const { id } = expect(await lead.POST('/codelabs', { body: { title: 'TypeScript', quiz_enabled: true } }))
const lab = { params: { path: { id } } }
const steps = [
  { title: 'Look around', content_markdown: 'Welcome!' },
  { title: 'Try it', content_markdown: 'Your turn.' },
]
expect(await lead.PUT('/codelabs/{id}/steps', { ...lab, body: { steps } }))
const [question] = expect(
  await lead.PUT('/codelabs/{id}/quizzes', {
    ...lab,
    body: [{ question: 'Six times seven?', quiz_type: 'multiple_choice', options: ['41', '42'], correct_answer: 1 }],
  }),
)

// An attendee registers and reads the codelab and its steps. The answer is a tuple, which
// openapi-fetch types as an array.
const ann = session()
const me = expect(await ann.POST('/codelabs/{id}/register', { ...lab, body: { name: 'Ann', code: '1234' } }))
const [codelab, shown] = expect(await ann.GET('/codelabs/{id}', lab)) as components['schemas']['CodelabWithSteps']
assert(codelab.title === 'TypeScript' && shown[1].title === 'Try it', 'the codelab has other contents')

// The attendee sends a chat message. If its answer is lost, a client sends the message again with
// the same ref: it is stored once, and both acks are the same. The stream replays messages after
// the position of the welcome.
const welcome = expect(await ann.POST('/codelabs/{id}/messages', { ...lab, body: { type: 'hello' } }))
assert(welcome.type === 'welcome', `the answer is ${welcome.type}`)
const seqs = []
for (let i = 0; i < 2; i++) {
  const chat = { type: 'chat', message: 'It works!', ref: 'chat' } as const
  seqs.push(expect(await ann.POST('/codelabs/{id}/messages', { ...lab, body: chat })).seq)
}
const missed = await resume(welcome.epoch, welcome.head)
assert(seqs[0] === seqs[1] && missed.seq === seqs[0] && missed.message === 'It works!', JSON.stringify({ seqs, missed }))

/** Reads the server-sent events after a position until a chat message arrives. */
async function resume(epoch: string, since: number): Promise<{ seq: number; message: string }> {
  const stop = new AbortController()
  const stream = expect(
    await ann.GET('/codelabs/{id}/events', {
      params: { path: { id }, query: { epoch, since } },
      parseAs: 'stream',
      signal: stop.signal,
    }),
  ) as unknown as ReadableStream<BufferSource>
  let text = ''
  try {
    for await (const bytes of stream.pipeThrough(new TextDecoderStream())) {
      text += bytes
      const lines = text.split('\n')
      text = lines.pop()! // an incomplete line
      for (const line of lines) {
        const message = line.startsWith('data: ') && JSON.parse(line.slice('data: '.length))
        if (message?.type === 'chat') return message
      }
    }
  } finally {
    stop.abort()
  }
  throw new Error('the stream ended')
}

// The attendee moves to the second step, asks for help and answers the question.
const ack = expect(
  await ann.POST('/codelabs/{id}/messages', { ...lab, body: { type: 'step_progress', step_number: 2, ref: 'move' } }),
)
assert(ack.type === 'ack' && ack.ref === 'move', `the answer is ${ack.type}`)
expect(await ann.POST('/codelabs/{id}/help', { ...lab, body: { step_number: 2, message: 'It does not start.' } }))
const queue = expect(await lead.GET('/codelabs/{id}/help', lab))
assert(queue.length === 1 && queue[0].attendee_id === me.id, 'the queue does not contain the attendee')
const result = expect(
  await ann.POST('/codelabs/{id}/quizzes/submit', { ...lab, body: { submissions: [{ quiz_id: question.id, answer: '1' }] } }),
)
assert(result.passed, 'the answer is wrong')

// The attendee submits a file. Attendee and facilitator read the same bytes. In the types a file is
// a string, but bodySerializer sends a form.
const content = crypto.getRandomValues(new Uint8Array(4096))
content.set([0, 255, 254, 13, 10, 45, 45])
const path = { id, attendee_id: me.id }
const work = expect(
  await ann.POST('/codelabs/{id}/attendees/{attendee_id}/submissions', {
    params: { path },
    body: { file: '' },
    bodySerializer() {
      const form = new FormData()
      form.append('file', new Blob([content]), 'work.bin')
      return form
    },
  }),
)
const same = (a: Uint8Array) => a.length === content.length && a.every((byte, i) => byte === content[i])
for (const who of [ann, lead]) {
  const stored = expect(
    await who.GET('/codelabs/{id}/attendees/{attendee_id}/submissions/{submission_id}/file', {
      params: { path: { ...path, submission_id: work.id } },
      parseAs: 'arrayBuffer',
    }),
  )
  assert(same(new Uint8Array(stored)), 'the file was changed')
}
expect(await ann.POST('/codelabs/{id}/complete', lab))

// The facilitator downloads everything as a ZIP. This program checks the first and the last record.
const archive = new Uint8Array(expect(await lead.GET('/codelabs/{id}/export/all', { ...lab, parseAs: 'arrayBuffer' })))
const end = archive.length - 22
assert(String.fromCharCode(...archive.slice(0, 4)) === 'PK\x03\x04', 'the archive has no beginning')
assert(String.fromCharCode(...archive.slice(end, end + 4)) === 'PK\x05\x06', 'the archive has no end')
console.log('held')
