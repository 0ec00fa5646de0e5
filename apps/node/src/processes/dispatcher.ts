import type { Socket } from 'node:net'
import { connectionLimit } from './descriptor-limit.js'
import type { ConnectionOffer, ReaderReply } from './messages.js'
import { WaitingConnections } from './waiting-connections.js'

/** Least time after which a connection that no reader has taken is closed. */
export const PATIENCE_MS = 10_000
export const MOST_PENDING = 8_192
/** Time within which a reader must take an offered connection. After twice that time, another reader gets it. */
const OFFER_MS = 400

/**
 * Most offers to one reader at a time. Its channel passes one connection in each turn of its event loop, so each
 * earlier offer, whoever it comes from, delays a connection by a turn.
 */
const MOST_OFFERS = 4

/** A reader, as the dispatcher sees it. */
export interface Taker {
  /** Whether the reader accepts connections. */
  readonly isUp: boolean
  /** Sends an offer; `failed` is called if that is not possible. */
  offer(offer: ConnectionOffer, connection: Socket, failed: () => void): void
}

/** A connection on its way to a reader. */
interface Pending {
  readonly connection: Socket
  /** IP address of the client; empty if it has already left. */
  readonly address: string
  readonly fullTakers: Set<Taker>
  /** Offer to a reader; undefined while the connection waits for a reader that can take it. */
  offer: { readonly id: number; readonly taker: Taker; readonly expiry: NodeJS.Timeout } | undefined
}

/**
 * Gives each connection to one of several readers, in turn. If the readers are busy, the addresses of clients take
 * turns. The supervisor keeps its own descriptor until a reader says that it has taken the connection; if the reader
 * ends or stalls before that, another reader gets the connection. A reader does not take an offer that has expired by
 * the clock, so a connection never has two readers.
 */
export class Dispatcher {
  /** Number of connections that were closed because no reader took them. */
  refused = 0
  readonly #takers: readonly Taker[]
  readonly #pending = new Set<Pending>()
  /** Pending connections that are not offered to a reader. */
  readonly #waiting = new WaitingConnections<Pending>()
  readonly #offers = new Map<number, Pending>()
  readonly #openOffers = new Map<Taker, number>()
  /** Readers that let an offer expire and have not replied since, and readers that are stopping. */
  readonly #stalled = new Set<Taker>()
  readonly #mostPending = Math.min(MOST_PENDING, connectionLimit())
  readonly #patienceMs: number
  #lastOffer = 0
  #turn = 0

  /** @param patienceMs time for which a connection waits for a reader */
  constructor(takers: readonly Taker[], patienceMs = PATIENCE_MS) {
    this.#takers = takers
    this.#patienceMs = patienceMs
  }

  dispatch(connection: Socket): void {
    const { remoteAddress: address = '' } = connection
    const pending: Pending = { connection, address, fullTakers: new Set(), offer: undefined }
    this.#pending.add(pending)
    this.#waiting.add(pending)
    if (this.#pending.size > this.#mostPending) this.#refuse(this.#waiting.newestOfTheMost()!)
    if (!this.#pending.has(pending)) return
    const patience = setTimeout(() => this.#refuse(pending), this.#patienceMs)
    connection.once('close', () => {
      clearTimeout(patience)
      this.#drop(pending)
    })
    this.#offerWaiting()
  }

  /** Called when a reader has begun to accept connections. */
  takerIsUp(): void {
    this.#offerWaiting()
  }

  /** Called when the process of a reader has ended. Connections that it had not taken go to others. */
  takerIsGone(taker: Taker): void {
    this.#stalled.delete(taker)
    for (const pending of this.#pending) {
      pending.fullTakers.delete(taker)
      if (pending.offer?.taker === taker) this.#withdraw(pending)
    }
    this.#offerWaiting()
  }

  heed(taker: Taker, { type, offer }: ReaderReply): void {
    if (type === 'stopping') this.#stalled.add(taker)
    else this.#stalled.delete(taker)
    const pending = this.#offers.get(offer)
    // Otherwise the offer was withdrawn, and the reader knows by the clock that it had expired.
    if (pending) {
      if (type === 'full') pending.fullTakers.add(taker)
      if (type === 'taken') this.#drop(pending)
      else this.#withdraw(pending)
    }
    this.#offerWaiting()
  }

  close(): void {
    for (const pending of this.#pending) this.#drop(pending)
  }

  #offerWaiting(): void {
    for (const pending of this.#waiting) {
      const ready = this.#takers.filter((taker) => taker.isUp && !this.#stalled.has(taker))
      if (ready.length > 0 && ready.every((taker) => pending.fullTakers.has(taker))) {
        this.#refuse(pending)
        continue
      }
      const free = ready.filter((taker) => (this.#openOffers.get(taker) ?? 0) < MOST_OFFERS)
      if (free.length === 0) return
      const willing = free.filter((taker) => !pending.fullTakers.has(taker))
      if (willing.length > 0) this.#offer(pending, willing[this.#turn++ % willing.length]!)
    }
  }

  #offer(pending: Pending, taker: Taker): void {
    const id = ++this.#lastOffer
    const expire = (): void => {
      if (pending.offer?.id !== id) return
      this.#stalled.add(taker)
      this.#withdraw(pending)
      this.#offerWaiting()
    }
    // Checks the received messages once more: if this process was paused, the reader's reply may be waiting.
    pending.offer = { id, taker, expiry: setTimeout(() => setImmediate(expire), 2 * OFFER_MS) }
    this.#waiting.take(pending)
    this.#offers.set(id, pending)
    this.#openOffers.set(taker, (this.#openOffers.get(taker) ?? 0) + 1)
    const takenBefore = process.hrtime.bigint() + BigInt(OFFER_MS) * 1_000_000n
    taker.offer({ type: 'offer', offer: id, takenBefore }, pending.connection, expire)
  }

  /** Withdraws an offer, so that the connection waits for another one. */
  #withdraw(pending: Pending): void {
    if (pending.offer) {
      const { id, taker, expiry } = pending.offer
      clearTimeout(expiry)
      this.#offers.delete(id)
      this.#openOffers.set(taker, this.#openOffers.get(taker)! - 1)
      pending.offer = undefined
    }
    this.#waiting.add(pending)
  }

  #refuse(pending: Pending): void {
    this.refused++
    this.#drop(pending)
  }

  /** Closes the descriptor of this process. */
  #drop(pending: Pending): void {
    this.#withdraw(pending)
    this.#waiting.delete(pending)
    this.#pending.delete(pending)
    pending.connection.destroy()
  }
}
