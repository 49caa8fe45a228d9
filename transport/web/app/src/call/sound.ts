// The sound that calls: two short tones, made here and loaded from nowhere.
import { recall, remember } from '../device/remember'

/** At most one sound in so long, milliseconds, in all tabs together. */
export const quiet = 10_000
const key = 'call:sounded'

/** Whether a sound may be heard now; last is when one was heard. A clock that was set back does not silence it. */
export const due = (last: number, now: number): boolean => now - last >= quiet || last > now

let audio: AudioContext | null = null

/** Browsers let a page sound only once somebody has pressed something in it. */
export function unlock(): void {
  if (typeof AudioContext === 'undefined') return
  audio ??= new AudioContext()
  if (audio.state === 'suspended') void audio.resume()
}

/** Plays the sound; at once when somebody tries it out. False when it was not to be heard. */
export async function ring(atOnce = false): Promise<boolean> {
  const now = Date.now()
  if (!atOnce && !due(recall(key, 0), now)) return false
  audio ??= new AudioContext()
  // It waits for a press when there was none; nobody waits for it here.
  if (audio.state === 'suspended') await Promise.race([audio.resume(), new Promise((done) => setTimeout(done, 500))])
  if (audio.state !== 'running') return false
  remember(key, now)
  tone(audio, 660, 0)
  tone(audio, 880, 0.16)
  return true
}

/** Plays one tone. pitch is in hertz; after is the delay in seconds. */
function tone(audio: AudioContext, pitch: number, after: number): void {
  const [from, to] = [audio.currentTime + after, audio.currentTime + after + 0.3]
  const source = new OscillatorNode(audio, { frequency: pitch })
  const volume = new GainNode(audio, { gain: 0 })
  volume.gain.setValueAtTime(0.0001, from)
  volume.gain.exponentialRampToValueAtTime(0.2, from + 0.02)
  volume.gain.exponentialRampToValueAtTime(0.0001, to)
  source.connect(volume).connect(audio.destination)
  source.start(from)
  source.stop(to)
}
