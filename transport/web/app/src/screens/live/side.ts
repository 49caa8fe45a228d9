/** The tabs next to the floor. */
export type SideTab = 'talk' | 'polls' | 'questions' | 'timer'
