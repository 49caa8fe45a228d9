// The audit trail as a CSV file for spreadsheets.
import type { Entry } from './filter'

/** Escapes a text that begins like a formula, because a spreadsheet must never execute a cell. */
const guarded = (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text)
const cell = (text: string) => `"${guarded(text).replaceAll('"', '""')}"`

export interface Words {
  action: (r: Entry) => string
  name: (id: string | null) => string | undefined
  lab: (id: string | null) => string | undefined
}

/** One row per record, as in RFC 4180, after a byte order mark. */
export function tableOf(records: readonly Entry[], words: Words): string {
  const head = 'time,action,what,actor_type,actor_id,actor_name,codelab_id,codelab,target_id,target_name,address,program,details,id'
  const rows = records.map((r) =>
    [
      r.created_at,
      r.action,
      words.action(r),
      r.actor_type,
      r.actor_id ?? '',
      words.name(r.actor_id) ?? '',
      r.codelab_id ?? '',
      words.lab(r.codelab_id) ?? '',
      r.target_id ?? '',
      words.name(r.target_id) ?? '',
      r.ip,
      r.user_agent,
      Object.entries(r.metadata)
        .map(([k, v]) => `${k}: ${v}`)
        .join('; '),
      r.id,
    ]
      .map(cell)
      .join(','),
  )
  return `\ufeff${[head, ...rows].join('\r\n')}\r\n`
}
