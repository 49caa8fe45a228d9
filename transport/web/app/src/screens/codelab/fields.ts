// The settings of a codelab as comparable values. Only changed values are sent, so two people who
// change different settings do not conflict.
import type { Codelab } from '../../workshop/state'

export const names = [
  'title',
  'description',
  'author',
  'is_public',
  'quiz_enabled',
  'require_quiz',
  'require_feedback',
  'require_submission',
  'require_checks',
  'ai_enabled',
  'questions',
  'questions_anonymous',
  'share_code',
  'email_retention_days',
  'chat_retention_days',
  'organiser',
  'hours',
  'logo_url',
  'accent',
  'certificate_text',
  'seal',
] as const

export type Name = (typeof names)[number]
export type Fields = Required<Pick<Codelab, Name>>

export function fieldsOf(lab: Codelab): Fields {
  const given = Object.fromEntries(names.map((n) => [n, lab[n]])) as Partial<Fields>
  return {
    ...given,
    questions: lab.questions ?? 'off',
    questions_anonymous: lab.questions_anonymous ?? true,
    share_code: lab.share_code ?? 'none',
    organiser: lab.organiser ?? '',
    hours: lab.hours ?? null,
    logo_url: lab.logo_url ?? null,
    accent: lab.accent ?? 'blue',
    certificate_text: lab.certificate_text ?? '',
    seal: lab.seal ?? false,
  } as Fields
}

/** A value in the form that the server stores. */
function tidy<N extends Name>(name: N, value: Fields[N]): Fields[N] {
  return typeof value === 'string' && name !== 'description' ? (value.trim() as Fields[N]) : value
}

/** The values of draft that differ from base. */
export function changed(base: Fields, draft: Fields): Partial<Fields> {
  return Object.fromEntries(names.filter((n) => tidy(n, draft[n]) !== base[n]).map((n) => [n, tidy(n, draft[n])])) as Partial<Fields>
}

/** The settings that both sides changed to different values. */
export function clashes(base: Fields, draft: Fields, theirs: Fields): Name[] {
  const mine = changed(base, draft)
  return names.filter((n) => n in mine && theirs[n] !== base[n] && theirs[n] !== mine[n])
}

/** The other person's settings, changed by the settings of draft that differ from base. */
export function onTop(base: Fields, draft: Fields, theirs: Fields): Fields {
  return { ...theirs, ...changed(base, draft) }
}

/** The maximum retention time, in days, as on the server. */
export const mostDays = 36_500
/** The maximum size of a logo, in bytes. */
export const mostLogo = 200 * 1024

/** The typed hours as a number. Null if the text is empty, and NaN if it is invalid. */
export function hoursOf(text: string): number | null {
  const given = text.trim().replace(',', '.')
  return given === '' ? null : /^\d+(\.\d+)?$/.test(given) ? Number(given) : NaN
}

/** The planned minutes in hours, rounded to half hours as on the server. */
export const plannedHours = (minutes: number) => Math.floor(minutes / 30 + 0.5) / 2

export type Trouble = { name: Name; kind: 'empty' | 'days' | 'hours' }

export function troubles(draft: Fields): Trouble[] {
  const out: Trouble[] = []
  if (draft.title.trim() === '') out.push({ name: 'title', kind: 'empty' })
  for (const name of ['email_retention_days', 'chat_retention_days'] as const) {
    const days = draft[name]
    if (!Number.isInteger(days) || days < 0 || days > mostDays) out.push({ name, kind: 'days' })
  }
  if (draft.hours !== null && !(draft.hours >= 0 && draft.hours <= 1000 && Number.isInteger(draft.hours * 2))) out.push({ name: 'hours', kind: 'hours' })
  return out
}
