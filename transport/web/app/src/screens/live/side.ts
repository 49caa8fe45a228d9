/** The tabs beside the floor. */
export type SideTab = 'talk' | 'polls' | 'questions' | 'timer'
