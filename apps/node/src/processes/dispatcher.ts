import type { Socket } from 'node:net'
import { connectionLimit } from './descriptor-limit.js'
import type { ConnectionOffer, ReaderReply } from './messages.js'

/** A connection that no reader has taken for this long is closed. */
const PATIENCE_MS = 10_000
const MOST_PENDING = 8_192
/** A reader has this long to take an offered connection; after twice that, another reader gets it. */
const OFFER_MS = 400

/** A reader, as the dispatcher sees it. */
export interface Taker {
  /** Whether it accepts connections. */
  readonly isUp: boolean
  /** `failed` is called where the offer could not be sent. */
  offer(offer: ConnectionOffer, connection: Socket, failed: () => void): void
}

/** A connection on its way to a reader. */
interface Pending {
  readonly connection: Socket
  readonly fullTakers: Set<Taker>
  /** Undefined while no reader can take it. */
  offer: { readonly id: number; readonly taker: Taker; readonly expiry: NodeJS.Timeout } | undefined
}

/**
 * Gives each connection to one of several readers, in turn. The supervisor keeps its own descriptor until a reader says
 * that it has taken the connection: where the reader ends or stalls before that, another one gets the connection. A
 * reader takes no offer that has expired by the clock, so that no connection has two readers.
 */
export class Dispatcher {
  /** Connections that were closed because no reader took them. */
  refused = 0
  readonly #takers: readonly Taker[]
  readonly #pending = new Set<Pending>()
  readonly #offers = new Map<number, Pending>()
  /** Those that let an offer expire and have not replied since, and those that are stopping. */
  readonly #stalled = new Set<Taker>()
  readonly #mostPending = Math.min(MOST_PENDING, connectionLimit())
  #lastOffer = 0
  #turn = 0

  constructor(takers: readonly Taker[]) {
    this.#takers = takers
  }

  dispatch(connection: Socket): void {
    if (this.#pending.size >= this.#mostPending) {
      this.refused++
      connection.destroy()
      return
    }
    const pending: Pending = { connection, fullTakers: new Set(), offer: undefined }
    this.#pending.add(pending)
    const patience = setTimeout(() => this.#refuse(pending), PATIENCE_MS)
    connection.once('close', () => {
      clearTimeout(patience)
      this.#drop(pending)
    })
    this.#offer(pending)
  }

  /** To be called when a reader has begun to accept connections. */
  takerIsUp(): void {
    this.#offerWaiting()
  }

  /** To be called when the process of a reader has ended: what it had not taken goes to others. */
  takerIsGone(taker: Taker): void {
    this.#stalled.delete(taker)
    for (const pending of this.#pending) {
      pending.fullTakers.delete(taker)
      if (pending.offer?.taker === taker) this.#withdraw(pending)
    }
    this.#offerWaiting()
  }

  heed(taker: Taker, { type, offer }: ReaderReply): void {
    const hadStalled = this.#stalled.delete(taker)
    if (type === 'stopping') this.#stalled.add(taker)
    const pending = this.#offers.get(offer)
    // Otherwise the offer was withdrawn; the reader knows by the clock that it had expired.
    if (pending) {
      if (type === 'full') pending.fullTakers.add(taker)
      if (type === 'taken') this.#drop(pending)
      else {
        this.#withdraw(pending)
        this.#offer(pending)
      }
    }
    if (hadStalled) this.#offerWaiting()
  }

  close(): void {
    for (const pending of this.#pending) this.#drop(pending)
  }

  #offer(pending: Pending): void {
    const ready = this.#takers.filter((taker) => taker.isUp && !this.#stalled.has(taker))
    if (ready.length > 0 && ready.every((taker) => pending.fullTakers.has(taker))) {
      this.#refuse(pending)
      return
    }
    const willing = ready.filter((taker) => !pending.fullTakers.has(taker))
    const taker = willing[this.#turn++ % willing.length]
    if (!taker) return
    const id = ++this.#lastOffer
    const expire = (): void => {
      if (pending.offer?.id !== id) return
      this.#stalled.add(taker)
      this.#withdraw(pending)
      this.#offer(pending)
    }
    pending.offer = { id, taker, expiry: setTimeout(expire, 2 * OFFER_MS) }
    this.#offers.set(id, pending)
    const takenBefore = process.hrtime.bigint() + BigInt(OFFER_MS) * 1_000_000n
    taker.offer({ type: 'offer', offer: id, takenBefore }, pending.connection, expire)
  }

  #offerWaiting(): void {
    for (const pending of this.#pending) if (!pending.offer) this.#offer(pending)
  }

  #withdraw(pending: Pending): void {
    if (!pending.offer) return
    clearTimeout(pending.offer.expiry)
    this.#offers.delete(pending.offer.id)
    pending.offer = undefined
  }

  #refuse(pending: Pending): void {
    this.refused++
    this.#drop(pending)
  }

  /** Closes the descriptor of this process. */
  #drop(pending: Pending): void {
    this.#withdraw(pending)
    this.#pending.delete(pending)
    pending.connection.destroy()
  }
}
