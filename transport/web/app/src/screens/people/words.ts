// Texts for the API's values.
import type { Schemas } from '../../api/client'
import { m } from '../../messages/compiled/messages.js'

export type Leader = Schemas['Leader']

export const rankWord: Record<'owner' | 'facilitator' | 'assistant', () => string> = {
  owner: m.people_owner,
  facilitator: m.people_facilitator,
  assistant: m.people_assistant,
}

export const stateWord: Record<Leader['state'], () => string> = { invited: m.people_invited, active: m.people_active, disabled: m.people_disabled }
