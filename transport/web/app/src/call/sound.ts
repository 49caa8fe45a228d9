// Plays the notification sound, which consists of two short generated tones.
import { recall, remember } from '../device/remember'

/** The minimum time between two sounds of all tabs together, in milliseconds. */
export const quiet = 10_000
const key = 'call:sounded'

/**
 * Whether the sound can be played now. last is the time at which it was last played. Times are in
 * Unix milliseconds. If the clock was set back, the sound is still played.
 */
export const due = (last: number, now: number): boolean => now - last >= quiet || last > now

let audio: AudioContext | null = null

/** Enables sound. Browsers allow this only after a click or a key press in the page. */
export function unlock(): void {
  if (typeof AudioContext === 'undefined') return
  audio ??= new AudioContext()
  if (audio.state === 'suspended') void audio.resume()
}

/**
 * Plays the sound. With atOnce, for a trial, the minimum time is ignored. Returns false if nothing
 * was played. Rejects in a browser without audio.
 */
export async function ring(atOnce = false): Promise<boolean> {
  const now = Date.now()
  if (!atOnce && !due(recall(key, 0), now)) return false
  audio ??= new AudioContext()
  // Without an earlier click, resume waits for the next click. The race limits this wait to half a
  // second.
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
