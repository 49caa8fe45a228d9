// Converts the server's health to lines. A line contains the check, its figures and the server's
// verdict.
import type { Schemas } from '../../api/client'
import { bytes, day, dayAndTime, moment, number, relative } from '../../device/moments'
import { m } from '../../messages/compiled/messages.js'

type Health = Schemas['Health']

export interface Line {
  id: keyof Health
  name: string
  figures: string
  /** Whether the check passed, or null if this is unknown. */
  ok: boolean | null
  /** The server's message about what is wrong or unknown, in English. */
  text: string
  /** What to do, in English, or "". */
  remedy: string
}

const joined = (...figures: (string | null)[]) => figures.filter(Boolean).join(' · ')

function people(p: Health['people'], several: boolean): string {
  if (!several) return m.health_connected({ count: p.here })
  return p.all === null
    ? joined(m.health_here({ n: number(p.here) }), m.health_others_unknown())
    : joined(m.health_connected({ count: p.all }), m.health_here({ n: number(p.here) }))
}

function times(t: { p50_ms: number | null; p99_ms: number | null }): string {
  return t.p50_ms === null || t.p99_ms === null ? m.health_times_none() : m.health_times({ p50: moment(t.p50_ms), p99: moment(t.p99_ms) })
}

function disk(d: Health['disk']): string {
  return joined(
    d.free_bytes === null || d.total_bytes === null ? null : m.health_free({ free: bytes(d.free_bytes), total: bytes(d.total_bytes) }),
    d.data_bytes === null ? null : m.health_data({ data: bytes(d.data_bytes) }),
  )
}

function backup(b: Health['backup']): string {
  if (b.at !== null && b.age_seconds !== null) return joined(relative(-b.age_seconds), dayAndTime(b.at))
  return b.ok === null ? '' : m.health_backup_none()
}

function certificate(c: NonNullable<Health['certificate']>): string {
  return c.not_after === null || c.days_left === null ? '' : joined(relative(c.days_left * 86_400), day(c.not_after))
}

function nodes(n: NonNullable<Health['nodes']>): string {
  return n.list === null ? '' : m.health_alive({ alive: number(n.list.filter((one) => one.alive).length), all: number(n.list.length) })
}

/** The lines of all checks. A check that does not apply to the server has no line. */
export function lines(h: Health): Line[] {
  const line = (id: keyof Health, name: string, figures: string): Line | null => {
    const verdict = h[id]
    if (verdict === null) return null
    const { ok, text, remedy } = verdict
    return { id, name, figures, ok, text, remedy }
  }
  return [
    line('people', m.health_people(), people(h.people, h.nodes !== null)),
    line('queue', m.health_queue(), times(h.queue)),
    line('commit', m.health_commit(), times(h.commit)),
    line('disk', m.health_disk(), disk(h.disk)),
    line('backup', m.health_backup(), backup(h.backup)),
    line('certificate', m.health_certificate(), h.certificate ? certificate(h.certificate) : ''),
    line('nodes', m.health_nodes(), h.nodes ? nodes(h.nodes) : ''),
  ].filter((l) => l !== null)
}
