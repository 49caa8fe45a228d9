// Uses the models of the messages that modelina generates.
import type { Chat } from './typescript/Chat.js'
import type { SendStepProgress } from './typescript/SendStepProgress.js'
import type { Welcome } from './typescript/Welcome.js'

export const move: SendStepProgress = { type: 'step_progress', step_number: 2, ref: 'move' }

export function greet(welcome: Welcome): string {
  return welcome.type === 'welcome' ? `${welcome.you.name} joins at ${welcome.seq}` : 'nobody'
}

export function show(chat: Chat): string {
  return `${chat.sender}: ${chat.message}`
}
