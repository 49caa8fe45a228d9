// The room in the pictures: invented people, with their steps and moods.

/** The steps: title and planned minutes. A person past the last step has completed the codelab. */
export const steps = [
  ['Set up', 5],
  ['A channel is a queue', 8],
  ['Workers', 10],
  ['How long do they wait?', 10],
  ['Retry', 12],
  ['Keep it on disk', 15],
  ['An HTTP door', 15],
  ['Shut down without losing anything', 10],
]

const says = {
  module: 'go: cannot find module providing package example.com/queue',
  asleep: 'all goroutines are asleep – deadlock!',
  table: 'My table looks different, is that right?',
  port: 'Port 8081 is taken',
  empty: 'The file is empty after kill -9',
  fsync: 'Where does fsync go, before or after the rename?',
  denied: 'permission denied: /var/queue',
  hang: 'Tests hang and never end',
  segment: 'Segment 2 is never read again after a restart',
  windows: 'Windows: the rename fails while the file is open',
  checksum: 'Checksum differs in every run',
}

/**
 * A person in the room.
 *
 * @typedef {{name: string, step: number, mood: string, minutes: number, wait: number, place: string, text: string, helped: boolean}} Guest
 */

/** @returns {Guest} */
const guest = (name, step, mood, minutes, wait = 0, place = '', text = '', helped = false) => ({ name, step, mood, minutes, wait, place, text, helped })

/** @type {Record<'a' | 'b', Guest[]>} */
export const rooms = {
  a: [
    guest('Sam', 1, 'silent', 14),
    guest('Jakub Nowak', 2, 'stuck', 11, 4, 'Row 1, seat 2', says.asleep),
    guest('Hannah Müller', 2, 'fine', 6),
    guest('Thabo', 2, 'silent', 9),
    guest('Anders Holm', 3, 'stuck', 9, 6, 'Row 3, seat 3', says.port),
    guest('Oluwaseun Adeyemi-Bankole', 3, 'slow', 8),
    guest('Rosa Jiménez', 3, 'fine', 5),
    guest('Bea', 3, 'fine', 4),
    guest('Aroha Ngata', 3, 'fine', 2),
    guest('ليلى حداد', 3, 'silent', 7),
    guest('Elif Yılmaz', 4, 'fine', 7, 8, 'Row 5, seat 5', says.module, true),
    guest('Vera Ivanova', 4, 'slow', 9),
    guest('Inês Carvalho', 4, 'slow', 6),
    ...[...'Priya,Wang Wei,Chiara Rossi,Nguyễn Thị Hương,Siobhán O’Brien'.split(',')].map((name, i) => guest(name, 4, 'fine', 6 - i)),
    guest('Lars Jensen', 4, 'silent', 3),
    guest('Yusuf Demir', 5, '', 5, 2, 'Row 2, seat 1', says.table),
    guest('Dmitri Volkov', 5, 'slow', 8),
    ...[...'Maya Cohen,Quentin Dubois,Þórdís Jónsdóttir,Kwame Boateng,Tomoko Satō'.split(',')].map((name, i) => guest(name, 5, 'fine', 6 - i)),
    guest('Carlos Mendoza', 5, 'silent', 3),
    ...[...'Grace Liu,Lars Eriksson,Kavya Ramanathan,Zoë Clarke'.split(',')].map((name, i) => guest(name, 6, 'fine', 6 - i)),
    guest('Noor van den Berg', 7, 'fine', 4),
    guest('Ximena Torres', 7, 'fine', 2),
    guest('Amélie Fontaine', 8, 'fine', 3),
  ],
  b: [
    guest('Sam', 1, 'silent', 31),
    guest('Wang Wei', 5, 'slow', 13),
    guest('Lars Jensen', 5, 'stuck', 9, 0, 'Row 1, seat 6'),
    guest('ليلى حداد', 5, 'silent', 12),
    guest('Yusuf Demir', 6, 'stuck', 18, 16, 'Row 2, seat 1', says.empty),
    guest('Elif Yılmaz', 6, '', 15, 14, 'Row 5, seat 5', says.segment, true),
    guest('Kavya Ramanathan', 6, 'stuck', 12, 9, 'Row 4, seat 2', says.hang),
    guest('Rosa Jiménez', 6, 'stuck', 12, 7, 'Row 1, seat 1', says.fsync),
    guest('Maya Cohen', 6, 'fine', 10, 7, 'Row 6, seat 3', says.table),
    guest('Inês Carvalho', 6, 'stuck', 11, 6, 'Row 3, seat 8', says.denied),
    guest('Priya', 6, 'stuck', 9, 5, 'Row 2, seat 4', says.checksum),
    guest('Anders Holm', 6, '', 8, 4, 'Row 3, seat 3'),
    guest('Nguyễn Thị Hương', 6, 'slow', 8, 3, 'Row 4, seat 7', says.windows),
    guest('Oluwaseun Adeyemi-Bankole', 6, 'stuck', 7, 2, 'Row 6, seat 1', says.module),
    guest('Bea', 6, '', 5, 1, 'Row 1, seat 3', says.port),
    guest('Jakub Nowak', 6, 'stuck', 12, 0, 'Row 1, seat 2'),
    ...[...'Vera Ivanova,Dmitri Volkov,Þórdís Jónsdóttir'.split(',')].map((name, i) => guest(name, 6, 'slow', 14 - i)),
    ...[...'Hannah Müller,Quentin Dubois,Chiara Rossi,Lars Eriksson,Kwame Boateng,Carlos Mendoza,Tomoko Satō,Aroha Ngata,Siobhán O’Brien'.split(',')].map(
      (name, i) => guest(name, 6, 'fine', 11 - i),
    ),
    ...[...'Thabo,Amélie Fontaine,Grace Liu'.split(',')].map((name, i) => guest(name, 6, 'silent', 10 - 2 * i)),
    guest('Zoë Clarke', 8, 'fine', 2),
  ],
}

const given =
  'Amina Anders Aroha Bea Berk Carlos Chiara Chloé Daniel Dmitri Elif Farah Goran Grace Hana Hannah Inês Ivo Jakub Jana Kavya Kofi Kwame Lars Lucía Mateo Maya Nadia Noor Olek Priya Quentin Rosa Samir Sam Thabo Tomoko Tuulia Uma Vera Viktor Wanjiru Wei Xavier Ximena Yuki Yusuf Zeynep Zoë Þórdís'
const family =
  'Abebe Andersen Boateng Bianchi Carvalho Chen Clarke Cohen Demir Dubois Eriksson Fontaine Fischer García Haddad Holm Ito Ivanova Jansen Jensen Jiménez Jónsdóttir Kaya Khan Kim Kowalska Liu Lopes Mbeki Mendoza Mokoena Müller Ngata Nguyen Nowak O’Brien Okafor Patel Peeters Petrov Ramanathan Rossi Satō Schmidt Silva Singh Tanaka Torres Traoré Volkov Wang Weber Wójcik Yılmaz Zhang Zuma Adeyemi Baker Costa Duarte Evans'

/** A crowd around step 6, the same in each run. count is at most 3,050. @returns {Guest[]} */
export function crowd(count) {
  let seed = 7
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647
  const names = family.split(' ').flatMap((last) => given.split(' ').map((first) => `${first} ${last}`))
  const texts = Object.values(says)
  return [0.01, 0.02, 0.05, 0.09, 0.19, 0.42, 0.16, 0.05, 0.01].flatMap((share, i) =>
    Array.from({ length: Math.round(count * share) }, () => {
      const r = random()
      const mood = i === 8 ? 'fine' : r < 0.03 ? 'stuck' : r < 0.12 ? 'slow' : r < 0.62 ? 'fine' : 'silent'
      const wait = i < 8 && random() < 0.012 ? Math.ceil(random() * 17) : 0
      const [name] = names.splice(Math.floor(random() * names.length), 1)
      const minutes = Math.max(wait, Math.ceil(random() * 18))
      return guest(name, i + 1, mood, minutes, wait, wait ? `Row ${Math.ceil(random() * 60)}` : '', wait ? texts[Math.floor(random() * texts.length)] : '')
    }),
  )
}

/**
 * Changes the server's responses as if the room had worked for an hour, and applies the times of
 * the guests. Otherwise pictures would show a room in its first second.
 *
 * @param {import('playwright-core').BrowserContext} context
 * @param {ReadonlyMap<string, Guest>} guests  by id
 */
export async function age(context, guests) {
  const ago = (minutes) => new Date(Date.now() - minutes * 60_000 - 8000).toISOString()
  const planned = (step) => steps[step - 1]?.[1] ?? 10
  const attendee = (record) => {
    const g = guests.get(record.id)
    if (!g) return record
    const reached = record.steps?.map((s, i, all) => {
      const last = i === all.length - 1
      return {
        ...s,
        reached_at: ago(last ? g.minutes : 60 - 6 * i),
        seconds: last ? null : Math.round(planned(s.step_number) * (0.55 + ((i * 7) % 5) / 10) * 60),
      }
    })
    return {
      ...record,
      created_at: ago(62),
      step_since: ago(g.minutes),
      ...(record.pulse ? { pulse: { ...record.pulse, at: ago(Math.min(g.minutes, Math.max(1, g.wait - 4))) } } : {}),
      ...(reached ? { steps: reached } : {}),
    }
  }
  const request = (record) => {
    const g = guests.get(record.attendee_id)
    return g?.wait ? { ...record, created_at: ago(g.wait) } : record
  }
  const overview = (record) => {
    const at = [...guests.values()].reduce((counts, g) => ((counts[g.step] = (counts[g.step] ?? 0) + 1), counts), [])
    const room = at.indexOf(Math.max(...at.filter(Boolean)))
    return { ...record, steps: record.steps.map((s, i) => ({ ...s, median_seconds: i < room ? Math.round(planned(i + 1) * 0.75) * 60 : null })) }
  }
  const progress = (record) => {
    const times = Array.from({ length: 30 }, (_, i) => ago(60 - 2 * i))
    const reached = record.reached.map((counts, step) => times.map((_, t) => Math.round((counts.at(-1) ?? 0) / (1 + Math.exp(-(t - 3.2 * step - 1) / 1.3)))))
    return { ...record, times, reached, completed: times.map((_, t) => (t === 29 ? (record.completed.at(-1) ?? 0) : 0)) }
  }
  const certificate = (record) => ({ ...record, ...(record.shares ? { shares: [0.05, 0.1, 0.14, 0.1, 0.12, 0.2, 0.17, 0.12] } : {}) })
  const answers = [
    [/\/attendees(\?|$)/, (body) => (Array.isArray(body) ? body.map(attendee) : body)],
    [/\/attendees\/[^/?]+(\?|$)/, attendee],
    [/\/help(\?|$)/, (body) => (Array.isArray(body) ? body.map(request) : body)],
    [/\/overview$/, overview],
    [/\/progress$/, progress],
    [/\/certificates\/[^/]+$/, certificate],
  ]
  for (const [path, change] of answers) {
    await context.route(
      (url) => /^\/api\/(codelabs|certificates)\//.test(url.pathname) && path.test(url.pathname + url.search),
      async (route) => {
        if (route.request().method() !== 'GET') return route.continue()
        const response = await route.fetch()
        await route.fulfill(response.ok() ? { response, json: change(await response.json()) } : { response })
      },
    )
  }
}
