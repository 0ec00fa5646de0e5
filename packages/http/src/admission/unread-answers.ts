import type { ServerResponse } from 'node:http'
import { type Link, LinkedList } from '@ledger-state/core'

/** Size from which answers are counted until their clients have read them. A connection has one answer at a time. */
export const LARGE_ANSWER_BYTES = 8_192
/** Time without progress, in milliseconds, after which an answer may be dropped to make room for others. */
export const STALLED_MS = 1_000
/** Most answers that one call examines to find one that has stalled. */
const MOST_LOOKED_AT = 64

interface UnreadAnswer {
  readonly response: ServerResponse
  readonly bytes: number
  /** Place in the list; undefined once the answer is released. */
  place: Link<UnreadAnswer> | undefined
  movedBytes: number
  /** Time at which its bytes were last seen to move, in milliseconds of `performance.now`. */
  movedAt: number
}

/** Answers that were handed to their sockets but are not read yet, least recently read first. */
export class UnreadAnswers {
  readonly #answers = new LinkedList<UnreadAnswer>()
  readonly #onReleased: (bytes: number) => void

  /** @param onReleased called with the bytes of an answer when it is released */
  constructor(onReleased: (bytes: number) => void) {
    this.#onReleased = onReleased
  }

  add(response: ServerResponse, bytes: number): void {
    const movedBytes = movedBytesOf(response)
    const answer: UnreadAnswer = { response, bytes, place: undefined, movedBytes, movedAt: performance.now() }
    answer.place = this.#answers.append(answer)
    // Emitted once for every response, whether it went out whole or the client left.
    response.on('close', () => this.#release(answer))
  }

  /** Closes the connection of an answer that its client does not read. Returns false if no answer has stalled. */
  dropStalled(): boolean {
    const now = performance.now()
    for (let looked = 0; looked < Math.min(MOST_LOOKED_AT, this.#answers.size); looked++) {
      const answer = this.#answers.first!
      if (now - answer.movedAt < STALLED_MS) return false
      const movedBytes = movedBytesOf(answer.response)
      if (movedBytes === answer.movedBytes) {
        this.#release(answer)
        answer.response.destroy()
        return true
      }
      this.#answers.remove(answer.place!)
      // The answer goes to the end, which keeps the order by time.
      Object.assign(answer, { movedBytes, movedAt: now, place: this.#answers.append(answer) })
    }
    return false
  }

  #release(answer: UnreadAnswer): void {
    if (!answer.place) return
    this.#answers.remove(answer.place)
    answer.place = undefined
    this.#onReleased(answer.bytes)
  }
}

/** Bytes that wait to be sent count as written, so a client that does not read moves nothing. */
function movedBytesOf({ socket }: ServerResponse): number {
  return socket ? socket.bytesWritten - socket.writableLength : 0
}
