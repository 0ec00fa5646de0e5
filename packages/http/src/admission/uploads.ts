import { type Link, LinkedList } from '@ledger-state/core'
import { overloaded } from '../errors.js'
import { ChunkCollector } from './chunk-collector.js'
import { Refusal } from './refusal.js'

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
export class Upload {
  /** Chunks that have come in. */
  readonly chunks = new ChunkCollector()
  /** The whole body, decompressed; undefined before it is in. */
  body: Buffer | undefined = undefined
  /** Bytes of memory that count for this body. */
  heldBytes = 0
  /** Place in the list while the body is being received. */
  place: Link<Upload> | undefined = undefined
  /** Ends receiving the body with an error; undefined before receiving begins. */
  refuse: ((error: Refusal) => void) | undefined = undefined
}

/**
 * Bounds the memory of bodies that come in, however slowly they do. It drops the oldest and the largest rather than the
 * newest, so that small bodies that come at once are served even while others hold every place.
 */
export class Uploads {
  readonly #limits: UploadLimits
  /** Uploads in order of arrival. */
  readonly #receiving = new LinkedList<Upload>()
  #heldBytes = 0

  constructor(limits: UploadLimits) {
    this.#limits = limits
  }

  /** Counts an upload as being received. Drops the oldest if there are more than `maxUploads`. */
  begin(upload: Upload): void {
    upload.place = this.#receiving.append(upload)
    if (this.#receiving.size > this.#limits.maxUploads) this.#drop(this.#receiving.first!)
  }

  /**
   * Sets the bytes that an upload holds. Drops the largest that are being received while all together hold too much.
   */
  hold(upload: Upload, bytes: number): void {
    this.#heldBytes += bytes - upload.heldBytes
    upload.heldBytes = bytes
    while (this.#heldBytes > this.#limits.maxUploadBytes && this.#receiving.size > 0) this.#drop(this.#largest())
  }

  /**
   * Ends receiving a body that is in whole, and sets the bytes that it holds. Drops this upload if all together hold
   * too much; afterwards it is never dropped.
   */
  complete(upload: Upload, bytes: number): void {
    this.#leave(upload)
    this.#heldBytes += bytes - upload.heldBytes
    upload.heldBytes = bytes
    if (this.#heldBytes > this.#limits.maxUploadBytes) this.#drop(upload)
  }

  /**
   * Takes a body that came in at once. Drops the largest that are being received while all together hold too much.
   * @throws `Refusal` if even then they hold too much
   */
  take(upload: Upload, body: Buffer): void {
    upload.body = body
    this.hold(upload, body.length)
    if (this.#heldBytes <= this.#limits.maxUploadBytes) return
    this.release(upload)
    throw new Refusal(overloaded())
  }

  /** Frees the body of an upload. */
  release(upload: Upload): void {
    this.#leave(upload)
    this.#heldBytes -= upload.heldBytes
    upload.heldBytes = 0
    upload.chunks.clear()
    upload.body = undefined
  }

  #leave(upload: Upload): void {
    if (!upload.place) return
    this.#receiving.remove(upload.place)
    upload.place = undefined
  }

  #drop(upload: Upload): void {
    this.release(upload)
    upload.refuse?.(new Refusal(overloaded()))
  }

  #largest(): Upload {
    let largest: Upload | undefined
    for (const upload of this.#receiving) {
      if (largest === undefined || upload.heldBytes > largest.heldBytes) largest = upload
    }
    return largest!
  }
}
