// The sections of a codelab's settings, as they stand below one another.
import { m } from '../../messages/compiled/messages.js'

export const sections = [
  { id: 'about', label: m.lab_about },
  { id: 'completion', label: m.lab_gates },
  { id: 'questions', label: m.lab_questions },
  { id: 'code', label: m.lab_share_code },
  { id: 'certificate', label: m.lab_certificate },
  { id: 'privacy', label: m.lab_privacy },
  { id: 'joining', label: m.door_title },
  { id: 'quiz', label: m.qz_title },
  { id: 'files', label: m.mat_title },
  { id: 'versions', label: m.versions },
  { id: 'end', label: m.danger_title },
] as const
