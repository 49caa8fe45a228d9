// A WebRTC connection to one other browser. Each side can start to negotiate at any moment. If the
// two sides do so at the same time, the polite side yields.
import type { Step } from './protocol'

interface Wires {
  ice: RTCIceServer[]
  polite: boolean
  send: (step: Step) => void
  /** Called when the connection is established, or has failed permanently. */
  state: (state: 'connected' | 'failed') => void
  track?: (stream: MediaStream) => void
}

export class Peer {
  readonly #pc: RTCPeerConnection
  readonly #wires: Wires
  #offering = false
  #ignoring = false
  #closed = false
  /** Signalling steps are processed one after the other. */
  #queue: Promise<void> = Promise.resolve()

  constructor(wires: Wires) {
    this.#wires = wires
    const pc = (this.#pc = new RTCPeerConnection({ iceServers: wires.ice }))
    pc.onnegotiationneeded = async () => {
      try {
        this.#offering = true
        await pc.setLocalDescription()
        this.#send({ description: pc.localDescription!.toJSON() as RTCSessionDescriptionInit })
      } catch {
        this.#fail()
      } finally {
        this.#offering = false
      }
    }
    pc.onicecandidate = ({ candidate }) => candidate && this.#send({ candidate: candidate.toJSON() })
    pc.onconnectionstatechange = () => {
      if (pc.connectionState === 'connected') wires.state('connected')
      else if (pc.connectionState === 'failed') this.#fail()
    }
    pc.ontrack = ({ track, streams }) => wires.track?.(streams[0] ?? new MediaStream([track]))
  }

  /** Sends the tracks of a stream to the other side. */
  show(stream: MediaStream): void {
    for (const track of stream.getTracks()) {
      const sender = this.#pc.addTrack(track, stream)
      const p = sender.getParameters()
      p.degradationPreference = 'maintain-resolution'
      for (const e of p.encodings) e.maxBitrate = 2_500_000
      void sender.setParameters(p).catch(() => {})
    }
  }

  take(step: Step): void {
    this.#queue = this.#queue.then(() => this.#take(step)).catch(() => this.#fail())
  }

  close(): void {
    this.#closed = true
    this.#pc.close()
  }

  async #take({ description, candidate }: Step): Promise<void> {
    if (this.#closed) return
    const pc = this.#pc
    if (description) {
      const collides = description.type === 'offer' && (this.#offering || pc.signalingState !== 'stable')
      this.#ignoring = !this.#wires.polite && collides
      if (this.#ignoring) return
      await pc.setRemoteDescription(description)
      if (description.type === 'offer') {
        await pc.setLocalDescription()
        this.#send({ description: pc.localDescription!.toJSON() as RTCSessionDescriptionInit })
      }
    } else if (candidate) {
      try {
        await pc.addIceCandidate(candidate)
      } catch (e) {
        if (!this.#ignoring) throw e
      }
    }
  }

  #send(step: Step) {
    if (!this.#closed) this.#wires.send(step)
  }

  #fail() {
    if (!this.#closed) this.#wires.state('failed')
  }
}
