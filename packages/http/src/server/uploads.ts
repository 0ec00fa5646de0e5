import { type Link, LinkedList } from '@ledger-state/core'

export interface UploadLimits {
  /** Bodies that are being received at one time. Beyond it the one that has been coming in for longest is dropped. */
  readonly maxUploads: number
  /**
   * Bytes of all bodies that are held at one time, also while they are worked on. Beyond it the largest that is still
   * coming in is dropped. Never less than two of the largest bodies.
   */
  readonly maxUploadBytes: number
}

/** A request whose body is held in memory. */
export interface Upload {
  heldBytes: number
  /** Place in the list while its body is being received. */
  place: Link<Upload> | undefined
}

/**
 * Bounds what bodies hold while they come in, however slowly they do. To drop the oldest and the largest, rather than
 * the newest, keeps small bodies that come at once served while others hold every place.
 */
export class Uploads<T extends Upload> {
  readonly #limits: UploadLimits
  readonly #refuse: (upload: T) => void
  /** Uploads in the order in which they began. */
  readonly #receiving = new LinkedList<T>()
  #heldBytes = 0

  /** `refuse` answers a request that it takes too much, and lets go of its body. */
  constructor(limits: UploadLimits, refuse: (upload: T) => void) {
    this.#limits = limits
    this.#refuse = refuse
  }

  begin(upload: T): void {
    upload.place = this.#receiving.append(upload)
    if (this.#receiving.size > this.#limits.maxUploads) this.#drop(this.#receiving.first!)
  }

  /** Tells how many bytes an upload holds by now. */
  hold(upload: T, bytes: number): void {
    this.#heldBytes += bytes - upload.heldBytes
    upload.heldBytes = bytes
    while (this.#heldBytes > this.#limits.maxUploadBytes && this.#receiving.size > 0) this.#drop(this.#largest())
  }

  /** The body is in whole, of so many bytes: it is held, but dropped no more, unless bodies that are worked on take all there is. */
  complete(upload: T, bytes: number): void {
    this.#leave(upload)
    this.#heldBytes += bytes - upload.heldBytes
    upload.heldBytes = bytes
    if (this.#heldBytes > this.#limits.maxUploadBytes) this.#drop(upload)
  }

  #leave(upload: T): void {
    if (!upload.place) return
    this.#receiving.remove(upload.place as Link<T>)
    upload.place = undefined
  }

  release(upload: T): void {
    this.#leave(upload)
    this.#heldBytes -= upload.heldBytes
    upload.heldBytes = 0
  }

  #drop(upload: T): void {
    this.release(upload)
    this.#refuse(upload)
  }

  #largest(): T {
    let largest: T | undefined
    for (const upload of this.#receiving) {
      if (largest === undefined || upload.heldBytes > largest.heldBytes) largest = upload
    }
    return largest!
  }
}
