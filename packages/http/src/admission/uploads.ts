import { type Link, LinkedList } from '@ledger-state/core'
import { ChunkCollector } from './chunk-collector.js'

export interface UploadLimits {
  /**
   * Most bodies that are being received at one time. Beyond it, the body that has been coming in for longest is
   * dropped.
   */
  readonly maxUploads: number
  /**
   * Most bytes of all bodies that are held at one time, even while they are worked on. Beyond it, the largest body that
   * is still coming in is dropped. Never less than two of the largest bodies.
   */
  readonly maxUploadBytes: number
}

/** The body of one request, from its first byte until the request is answered. */
export class Upload<T> {
  readonly owner: T
  /** Chunks that have come in. */
  readonly chunks = new ChunkCollector()
  /** Bytes of memory that count for this body. */
  heldBytes = 0
  /** Place in the list while the body is being received. */
  place: Link<Upload<T>> | undefined = undefined

  /** @param owner the request that the body belongs to */
  constructor(owner: T) {
    this.owner = owner
  }
}

/**
 * Bounds the memory of bodies that come in, however slowly they do. It drops the oldest and the largest rather than the
 * newest, so that small bodies that come at once are served even while others hold every place.
 */
export class Uploads<T> {
  readonly #limits: UploadLimits
  readonly #refuse: (owner: T) => void
  /** Uploads in the order in which they began. */
  readonly #receiving = new LinkedList<Upload<T>>()
  #heldBytes = 0

  /** @param refuse answers a request if its body takes too much memory */
  constructor(limits: UploadLimits, refuse: (owner: T) => void) {
    this.#limits = limits
    this.#refuse = refuse
  }

  /** Counts an upload as being received. Drops the oldest if there are more than `maxUploads`. */
  begin(upload: Upload<T>): void {
    upload.place = this.#receiving.append(upload)
    if (this.#receiving.size > this.#limits.maxUploads) this.#drop(this.#receiving.first!)
  }

  /**
   * Sets the bytes that an upload holds. Drops the largest that are being received while all together hold too much.
   */
  hold(upload: Upload<T>, bytes: number): void {
    this.#heldBytes += bytes - upload.heldBytes
    upload.heldBytes = bytes
    while (this.#heldBytes > this.#limits.maxUploadBytes && this.#receiving.size > 0) this.#drop(this.#largest())
  }

  /**
   * Ends receiving a body that is in whole, and sets the bytes that it holds. Drops this upload if all together hold
   * too much; afterwards it is never dropped.
   */
  complete(upload: Upload<T>, bytes: number): void {
    this.#leave(upload)
    this.#heldBytes += bytes - upload.heldBytes
    upload.heldBytes = bytes
    if (this.#heldBytes > this.#limits.maxUploadBytes) this.#drop(upload)
  }

  /** Frees the body of an upload. */
  release(upload: Upload<T>): void {
    this.#leave(upload)
    this.#heldBytes -= upload.heldBytes
    upload.heldBytes = 0
    upload.chunks.clear()
  }

  #leave(upload: Upload<T>): void {
    if (!upload.place) return
    this.#receiving.remove(upload.place)
    upload.place = undefined
  }

  #drop(upload: Upload<T>): void {
    this.release(upload)
    this.#refuse(upload.owner)
  }

  #largest(): Upload<T> {
    let largest: Upload<T> | undefined
    for (const upload of this.#receiving) {
      if (largest === undefined || upload.heldBytes > largest.heldBytes) largest = upload
    }
    return largest!
  }
}
