// The sections of a codelab's settings, and the values in each.
import type { Group } from '../../admin/sections'
import { m } from '../../messages/compiled/messages.js'
import type { Name } from './fields'

export const groups = [
  {
    sections: [
      { id: 'about', label: m.lab_about },
      { id: 'joining', label: m.door_title },
      { id: 'completion', label: m.lab_gates },
      { id: 'certificate', label: m.lab_certificate },
    ],
  },
  {
    label: m.lab_group_people,
    sections: [
      { id: 'questions', label: m.lab_questions },
      { id: 'code', label: m.lab_code },
      { id: 'ai', label: m.lab_ai_title },
    ],
  },
  {
    label: m.lab_group_content,
    sections: [
      { id: 'quiz', label: m.qz_title },
      { id: 'files', label: m.mat_title },
      { id: 'versions', label: m.versions },
    ],
  },
  {
    label: m.lab_group_more,
    sections: [
      { id: 'privacy', label: m.lab_privacy },
      { id: 'end', label: m.danger_title },
    ],
  },
] as const satisfies readonly Group[]

export type SectionId = (typeof groups)[number]['sections'][number]['id']

/** The section of each value. */
export const sectionOf: Record<Name, SectionId> = {
  title: 'about',
  description: 'about',
  author: 'about',
  is_public: 'joining',
  quiz_enabled: 'quiz',
  require_quiz: 'completion',
  require_feedback: 'completion',
  require_submission: 'completion',
  require_checks: 'completion',
  ai_enabled: 'ai',
  questions: 'questions',
  questions_anonymous: 'questions',
  share_code: 'code',
  email_retention_days: 'privacy',
  chat_retention_days: 'privacy',
  organiser: 'certificate',
  hours: 'certificate',
  logo_url: 'certificate',
  accent: 'certificate',
  certificate_text: 'certificate',
  seal: 'certificate',
}
