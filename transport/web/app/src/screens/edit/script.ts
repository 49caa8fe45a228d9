// The script is the text that an author edits: the steps and the preparation guide, as plain
// values.
import type { components } from '../../api/schema'
import { token } from '../../device/token'

type S = components['schemas']

export interface ScriptStep {
  /** The id within the page. */
  readonly id: string
  /** The server's id, to which comments refer, or null until the step is saved. */
  readonly server: string | null
  readonly title: string
  readonly minutes: number
  readonly text: string
}

export interface Script {
  readonly steps: readonly ScriptStep[]
  readonly guide: string
}

/**
 * The maximum number of steps, the maximum length of a title and a text in code points, and the
 * maximum duration of a step in minutes.
 */
export const limits = { steps: 200, title: 200, text: 50_000, minutes: 10_000 }

/** The id of the guide among the steps. */
export const guide = 'guide'

export function fromServer(codelab: Pick<S['Codelab'], 'guide_markdown'>, steps: readonly S['Step'][]): Script {
  return {
    steps: steps.map((s) => ({ id: s.id, server: s.id, title: s.title, minutes: s.duration_minutes, text: s.content_markdown })),
    guide: codelab.guide_markdown ?? '',
  }
}

/**
 * The request that saves a script. Existing steps keep their ids, so that their comments stay
 * attached.
 */
export function toServer(script: Script): S['Steps']['steps'] {
  return script.steps.map((s) => ({
    ...(s.server === null ? {} : { id: s.server }),
    title: s.title.trim(),
    content_markdown: s.text,
    duration_minutes: s.minutes,
  }))
}

/** The key of a step. It is the same in the versions of two people. */
export const keyOf = (s: ScriptStep) => s.server ?? s.id

/** Whether two versions of a step are equal, apart from white space around the title. */
export function sameStep(a: ScriptStep, b: ScriptStep): boolean {
  return keyOf(a) === keyOf(b) && a.title.trim() === b.title.trim() && a.minutes === b.minutes && a.text === b.text
}

export function sameSteps(a: Script, b: Script): boolean {
  return a.steps.length === b.steps.length && a.steps.every((s, i) => sameStep(s, b.steps[i]!))
}

export function same(a: Script, b: Script): boolean {
  return a.guide === b.guide && sameSteps(a, b)
}

export function newStep(title: string): ScriptStep {
  return { id: `new:${token()}`, server: null, title, minutes: 0, text: '' }
}

export function withStep(script: Script, id: string, change: Partial<Pick<ScriptStep, 'title' | 'minutes' | 'text'>>): Script {
  return { ...script, steps: script.steps.map((s) => (s.id === id ? { ...s, ...change } : s)) }
}

/** Moves a step to another position, counted from 0. */
export function moved(script: Script, id: string, to: number): Script {
  const step = script.steps.find((s) => s.id === id)
  if (!step || to < 0 || to >= script.steps.length) return script
  const steps = script.steps.filter((s) => s.id !== id)
  steps.splice(to, 0, step)
  return { ...script, steps }
}

export function inserted(script: Script, step: ScriptStep, at: number): Script {
  return { ...script, steps: script.steps.toSpliced(at, 0, step) }
}

export function without(script: Script, id: string): Script {
  return { ...script, steps: script.steps.filter((s) => s.id !== id) }
}

/** The length in code points, as on the server. */
export function length(text: string): number {
  let n = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c >= 0xd800 && c < 0xdc00 && i + 1 < text.length) i++
    n++
  }
  return n
}

/** The length of a text in code points if it is at least 90% of the limit, or else null. */
export function nearLimit(text: string): number | null {
  if (text.length < limits.text * 0.9) return null
  const n = length(text)
  return n < limits.text * 0.9 ? null : n
}

export type Problem = { at: string; kind: 'no_title' | 'long_title' | 'long_text' | 'minutes' } | { at: null; kind: 'no_steps' | 'many_steps' }

/** The first reason why the server would refuse the steps. */
export function problemOfSteps(script: Script): Problem | null {
  if (script.steps.length === 0) return { at: null, kind: 'no_steps' }
  if (script.steps.length > limits.steps) return { at: null, kind: 'many_steps' }
  for (const s of script.steps) {
    if (s.title.trim() === '') return { at: s.id, kind: 'no_title' }
    if (length(s.title.trim()) > limits.title) return { at: s.id, kind: 'long_title' }
    if (!Number.isInteger(s.minutes) || s.minutes < 0 || s.minutes > limits.minutes) return { at: s.id, kind: 'minutes' }
    if (length(s.text) > limits.text) return { at: s.id, kind: 'long_text' }
  }
  return null
}

export function problemOfGuide(script: Script): Problem | null {
  return length(script.guide) > limits.text ? { at: guide, kind: 'long_text' } : null
}

/** The first reason why a save of draft would be refused. Unchanged steps are not sent. */
export function problem(base: Script, draft: Script): Problem | null {
  return (sameSteps(base, draft) ? null : problemOfSteps(draft)) ?? problemOfGuide(draft)
}

/**
 * Gives new steps the ids that the server assigned, after a save. sent is the script that was
 * saved, and saved is the server's version of this script.
 */
export function learned(draft: Script, sent: Script, saved: Script): Script {
  const ids = new Map<string, string>()
  const known = new Set(sent.steps.map((s) => s.server))
  const free = saved.steps.filter((s) => !known.has(s.server))
  for (const s of sent.steps) {
    if (s.server !== null) continue
    const at = free.findIndex((f) => f.title === s.title.trim() && f.text === s.text)
    if (at < 0) continue
    ids.set(s.id, free[at]!.server!)
    free.splice(at, 1)
  }
  if (ids.size === 0) return draft
  return { ...draft, steps: draft.steps.map((s) => (s.server === null && ids.has(s.id) ? { ...s, server: ids.get(s.id)! } : s)) }
}

/** The part of an ETag that changes with each edit. */
export function revision(tag: string): string {
  return /^(?:W\/)?"([^".]*)/.exec(tag)?.[1] ?? tag
}
