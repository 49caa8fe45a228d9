// Symbols for the moods. They are shown with a word, so that colour is never the only sign.
import { m } from '../messages/compiled/messages.js'
import type { Pulse } from '../workshop/state'

export const pulses: readonly Pulse[] = ['fine', 'slow', 'stuck']

export const mark: Record<Pulse, string> = { fine: '●', slow: '▲', stuck: '■' }

export const pulseWord: Record<Pulse, () => string> = { fine: m.pulse_fine, slow: m.pulse_slow, stuck: m.pulse_stuck }
