import { ByteReader } from '@ledger-state/core'
import { tooMuchCaptured } from '../errors.js'

/**
 * Parts of the layouts that the function values in one value may bring along. Compiling them costs a hundred times what
 * reading their bytes costs: without a limit a value of 1 MB took seconds.
 */
const MAX_CAPTURED_NODES = 16_384

/** A cursor over the bytes of one value. */
export class ValueReader extends ByteReader {
  #capturedNodes = 0

  /** Counts one part of a captured layout. @throws `type_too_large` */
  countCapturedNode(): void {
    if (++this.#capturedNodes > MAX_CAPTURED_NODES) throw tooMuchCaptured(MAX_CAPTURED_NODES)
  }
}
