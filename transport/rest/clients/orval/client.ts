// Runs a small workshop with the client that orval generates from /api/openapi.json. The
// administrator's login is in ATELIER_ADMIN and ATELIER_PASSWORD.
import {
  askHelp,
  createCodelab,
  createToken,
  getCodelab,
  getStreamEventsUrl,
  listHelp,
  login,
  postMessage,
  registerAttendee,
  replaceSteps,
} from './atelier.js'

const { ATELIER_ADMIN = '', ATELIER_PASSWORD = '' } = process.env

/** Returns the data of an answer, which must have this status. */
function expect<A extends { status: number; data: unknown }, S extends A['status']>(answer: A, status: S): Extract<A, { status: S }>['data'] {
  if (answer.status !== status) throw new Error(`${answer.status}: ${JSON.stringify(answer.data)}`)
  return answer.data as Extract<A, { status: S }>['data']
}

function assert(ok: boolean, about: string): asserts ok {
  if (!ok) throw new Error(about)
}

/** The headers that a browser sends by itself: the cookies of an answer, and the CSRF token. */
function session(headers: Headers): RequestInit {
  const cookies = new Map(headers.getSetCookie().map((cookie) => /^([^=]+)=([^;]*)/.exec(cookie)!.slice(1) as [string, string]))
  return { headers: { Cookie: [...cookies].map((pair) => pair.join('=')).join('; '), 'X-CSRF-Token': cookies.get('svc_csrf')! } }
}

// A facilitator logs in. With the session, the facilitator creates an API token, which needs no
// CSRF token.
const browser = await login({ admin_id: ATELIER_ADMIN, admin_pw: ATELIER_PASSWORD })
expect(browser, 200)
const { token } = expect(await createToken({ name: 'orval' }, session(browser.headers)), 200)
const lead = { headers: { Authorization: `Bearer ${token}` } }

// The facilitator creates a codelab with two steps.
const { id } = expect(await createCodelab({ title: 'orval' }, lead), 200)
const steps = [
  { title: 'Look around', content_markdown: 'Welcome!' },
  { title: 'Try it', content_markdown: 'Your turn.' },
]
expect(await replaceSteps(id, { steps }, lead), 200)

// An attendee registers, reads the codelab and asks for help.
const registered = await registerAttendee(id, { name: 'Ann', code: '1234' })
const me = expect(registered, 200)
const ann = session(registered.headers)
const [codelab, shown] = expect(await getCodelab(id, undefined, ann), 200)
assert(codelab.title === 'orval' && shown[1].title === 'Try it', 'the codelab has other contents')
expect(await askHelp(id, { step_number: 1, message: 'It does not start.' }, undefined, ann), 200)
const queue = expect(await listHelp(id, undefined, lead), 200)
assert(queue.length === 1 && queue[0].attendee_id === me.id, 'the queue does not contain the attendee')
// The attendee sends a chat message. If its answer is lost, a client sends the message again with
// the same ref: it is stored once, and both acks are the same.
const welcome = expect(await postMessage(id, { type: 'hello' }, undefined, ann), 200)
assert(welcome.type === 'welcome', `the answer is ${welcome.type}`)
const chat = { type: 'chat', message: 'It works!', ref: 'chat' } as const
const first = expect(await postMessage(id, chat, undefined, ann), 200)
const again = expect(await postMessage(id, chat, undefined, ann), 200)
assert(first.seq === again.seq, 'the message was stored twice')

// Messages sent meanwhile are replayed after the position of the welcome. The client of orval waits
// for the end of an answer, so this program reads the stream with fetch.
const stop = new AbortController()
const events = await fetch(getStreamEventsUrl(id, { epoch: welcome.epoch, since: welcome.head }), { ...ann, signal: stop.signal })
const bytes = events.body!.pipeThrough(new TextDecoderStream()).getReader()
let text = ''
while (!text.includes('"It works!"')) {
  const { value, done } = await bytes.read()
  if (done) throw new Error('the stream ended')
  text += value
}
stop.abort()
console.log('held')
