// The frequent messages that many attendees cause reach a facilitator's screen at most four times
// per second. All other messages, such as chat messages, reach the screen immediately.
import type { Dial } from './pipe'
import type { ServerMessage } from './protocol'

/** The maximum delay of these frequent messages, in milliseconds. */
const every = 250

const crowd = new Set<ServerMessage['type']>(['step_progress', 'pulse', 'attendee_joined', 'attendee_left', 'attendee_completed', 'progress_summary'])

/** Returns a dial that delivers the frequent messages in batches. All messages stay in order. */
export const batched =
  (dial: Dial): Dial =>
  (address, from, on) => {
    let waiting: ServerMessage[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const take = () => {
      clearTimeout(timer)
      timer = undefined
      const batch = waiting
      waiting = []
      return batch
    }
    const flush = () => {
      const batch = take()
      if (batch.length > 0) on.messages(batch)
    }
    const pipe = dial(address, from, {
      messages(batch) {
        if (batch.length === 0) {
          on.messages(batch)
          return
        }
        waiting.push(...batch)
        if (batch.some((m) => !crowd.has(m.type))) flush()
        else timer ??= setTimeout(flush, every)
      },
      closed(code) {
        flush()
        on.closed(code)
      },
    })
    return {
      send: (m) => pipe.send(m),
      close() {
        take()
        pipe.close()
      },
    }
  }
