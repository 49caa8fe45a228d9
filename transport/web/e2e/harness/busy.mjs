// A workshop with content of every kind, and the pages that show it.

/** Creates a codelab with content of every kind. */
export async function busy({ facilitator, person }) {
  const lead = await facilitator()
  const lab = await lead.codelab({
    title: 'A small service',
    guide_markdown: 'Bring a laptop.',
    quiz_enabled: true,
    steps: [
      '# Set up\n\nInstall it first.\n\n```go\nfunc main() {}\n```\n\n<aside class="positive">\n\nGood to know.\n\n</aside>\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n\n<details><summary>A hint</summary>\n\nLook.\n\n</details>',
      '# Write it\n\nText.',
      '# Run it\n\nText.',
    ],
  })
  await lead.put(`/codelabs/${lab.id}/quizzes`, [
    { question: 'What listens?', quiz_type: 'multiple_choice', options: ['A client', 'A server'], correct_answer: 1 },
    { question: 'Why?', quiz_type: 'descriptive' },
  ])
  await lead.post(`/codelabs/${lab.id}/materials`, { title: 'The slides', material_type: 'link', link_url: 'https://example.org/slides' })
  const ann = await person(lab, 'Attendee 1')
  const ben = await person(lab, 'Attendee 2')
  await ben.say(lab, { type: 'chat', message: 'Hello all' })
  await ben.say(lab, { type: 'pulse', state: 'stuck' })
  await ben.post(`/codelabs/${lab.id}/help`, { step_number: 1, message: 'It says refused' })
  await lead.put(`/codelabs/${lab.id}/pin`, { message: 'A break at ten' })
  await lead.say(lab, { type: 'pointer', step_number: 2, hints: false })
  await lead.put(`/codelabs/${lab.id}`, { questions: 'open' })
  await ben.post(`/codelabs/${lab.id}/questions`, { text: 'What does it cost?', anonymous: true })
  const done = await lead.post(`/codelabs/${lab.id}/polls`, { kind: 'choice', question: 'Ready?', options: ['yes', 'no'] })
  await lead.post(`/codelabs/${lab.id}/polls/${done.id}/open`, {})
  await ben.put(`/codelabs/${lab.id}/polls/${done.id}/vote`, { round: 1, choice: [0] })
  await lead.post(`/codelabs/${lab.id}/polls/${done.id}/show`, { shown: true })
  const poll = await lead.post(`/codelabs/${lab.id}/polls`, { kind: 'scale', question: 'How sure?', options: ['not at all', 'completely'] })
  await lead.post(`/codelabs/${lab.id}/polls/${poll.id}/open`, {})
  await lead.put(`/codelabs/${lab.id}/timer`, { seconds: 600, label: 'Exercise', kind: 'exercise' })
  await ben.post(`/codelabs/${lab.id}/complete`)
  await ben.post(`/codelabs/${lab.id}/feedback`, { difficulty: '2', satisfaction: '4', comment: 'More' })
  return { lead, lab, ann, ben }
}

/**
 * Every page: its path, the person who opens it (null for a guest, 'lead' for the facilitator), and
 * a heading that shows that the page has loaded.
 */
export const pages = ({ lab, ann, ben }) => [
  ['/', null, 'Join a workshop'],
  ['/login', null, 'Sign in'],
  [`/j/${lab.join_code}`, null, lab.title],
  ['/nowhere', null, 'Page not found'],
  ['/help', null, 'Handbook'],
  ['/help/writing', null, 'Writing codelabs'],
  [`/codelabs/${lab.id}`, ann, 'Set up'],
  [`/certificate/${ben.id}`, null, lab.title],
  [`/verify/${ben.id}`, null, 'Check a certificate'],
  ['/admin', 'lead', 'Codelabs'],
  [`/admin/${lab.id}`, 'lead', lab.title],
  [`/admin/${lab.id}/edit`, 'lead', lab.title],
  [`/admin/${lab.id}/results`, 'lead', lab.title],
  [`/admin/${lab.id}/settings`, 'lead', lab.title],
  [`/admin/${lab.id}/projector`, 'lead', lab.title],
  ['/admin/audit-logs', 'lead', 'Audit log'],
  ['/admin/participants', 'lead', 'Tokenization'],
  ['/admin/settings', 'lead', 'Settings'],
]
