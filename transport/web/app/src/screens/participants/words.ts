// Texts for the handler's codes.
import type { Schemas } from '../../api/client'
import { m } from '../../messages/compiled/messages.js'

export type Participant = Schemas['Participant']

export const kindWord: Record<Participant['kind'], () => string> = { platform: m.part_kind_platform, business: m.part_kind_business, psp: m.part_kind_psp }

export const environmentWord: Record<Participant['environment'], () => string> = { production: m.part_production, sandbox: m.part_sandbox }

export const scopeWord: Record<Participant['scopes'][number], () => string> = { tokenize: m.part_scope_tokenize, detokenize: m.part_scope_detokenize }

type Policy = NonNullable<Participant['policy']>['policy']
export const policyWord: Record<Policy, () => string> = { single_use: m.part_policy_single_use, ttl: m.part_policy_ttl, session: m.part_policy_session }
