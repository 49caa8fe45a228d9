import { beforeEach, expect, test, vi } from 'vitest'
import type { Schemas } from '../../api/client'
import { lines } from './health'

beforeEach(() => {
  vi.stubGlobal('navigator', { languages: ['en-US'] })
  return () => vi.unstubAllGlobals()
})

const well = { ok: true, text: 'all is well', remedy: '' }
const unknown = { ok: null, text: 'the disk does not answer', remedy: '' }

const health: Schemas['Health'] = {
  people: { ...well, here: 212, all: 212, sockets: 219 },
  queue: { ...well, p50_ms: null, p99_ms: null, window_seconds: 120, p99_bound_ms: 250, waiting_bytes: 0 },
  commit: { ...well, p50_ms: 2.91, p99_ms: 1210.4, window_seconds: 120, p50_bound_ms: 20, p99_bound_ms: 250 },
  disk: { ...well, free_bytes: 50 * 1024 ** 3, total_bytes: 100 * 1024 ** 3, data_bytes: 3 * 1024 ** 2 },
  backup: { ...well, at: '2026-03-09T02:30:11.000Z', age_seconds: 33012 },
  certificate: { ...well, not_after: '2026-06-01T12:00:00.000Z', days_left: 84 },
  nodes: null,
}

const figures = (over: Partial<Schemas['Health']> = {}) => Object.fromEntries(lines({ ...health, ...over }).map((l) => [l.id, l.figures]))

test('the figures of a single server', () => {
  expect(figures()).toEqual({
    people: '212 connected',
    queue: 'nothing in the last minutes',
    commit: 'median 2.9 ms, 99th percentile 1.2 sec',
    disk: '50 GB of 100 GB free · data: 3 MB',
    backup: expect.stringMatching(/^9 hours ago · Mar (8|9), 2026, /),
    certificate: 'in 84 days · June 1, 2026',
  })
})

test('the figures of a node in a cluster with a dead node', () => {
  const node = {
    since: '2026-03-09T07:58:02.000Z',
    stopped: false,
    lease_left_seconds: 2,
    program: 'v1',
    protocol: 5,
    owns: 1,
    load: 0.5,
    reached: '',
    writable: true,
    clock_offset_ms: 0,
  }
  const list = ['a', 'b', 'c'].map((name) => ({ ...node, node: name, alive: name !== 'b', state: name === 'b' ? ('dead' as const) : ('alive' as const) }))
  const nodes = { ok: false, text: 'node b is dead', remedy: 'start it', node: 'a', list }
  expect(figures({ nodes, people: { ...well, here: 1, all: 300, sockets: 1 } })).toMatchObject({
    people: '300 connected · 1 on this node',
    nodes: '2 of 3 alive',
  })
  expect(figures({ nodes: { ...nodes, list: null }, people: { ...well, here: 1, all: null, sockets: 1 } })).toMatchObject({
    people: '1 on this node · other nodes unknown',
    nodes: '',
  })
})

test('an unknown value has no figures and the verdict of the server', () => {
  const all = lines({
    ...health,
    disk: { ...unknown, free_bytes: null, total_bytes: null, data_bytes: null },
    backup: { ...unknown, at: null, age_seconds: null },
    certificate: { ...unknown, not_after: null, days_left: null },
  })
  for (const id of ['disk', 'backup', 'certificate']) expect(all.find((l) => l.id === id)).toMatchObject({ ...unknown, figures: '' })
  const none = { ok: false, text: 'there has been no backup', remedy: 'make one', at: null, age_seconds: null }
  expect(lines({ ...health, backup: none }).find((l) => l.id === 'backup')).toMatchObject({ ok: false, remedy: 'make one', figures: 'none yet' })
})

test('a server without its own certificate has no line for it; an expired certificate shows since when', () => {
  expect(figures({ certificate: null })).not.toHaveProperty('certificate')
  expect(figures({ certificate: { ...well, not_after: '2026-03-01T12:00:00.000Z', days_left: -3 } })).toMatchObject({
    certificate: '3 days ago · March 1, 2026',
  })
})
