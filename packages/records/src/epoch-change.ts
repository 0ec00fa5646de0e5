import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { badEpochChange } from './errors.js'

// An epoch change as a store keeps it: u8 kind, then the deflated bytes of the ledger info with its signatures.
// Most validators stay from one epoch to the next, so the bytes of the epoch before are the dictionary: 16 KB then take
// 1 to 2 KB.

const WHOLE = 0
const AFTER_PREVIOUS = 1
/** One in this many epochs is packed without a dictionary. So at most this many have to be unpacked to read one. */
const STRIDE = 32n
/** Most bytes of an ending; far more than the ledger info of 65,536 validators has. */
const MAX_BYTES = 8 * 1_024 * 1_024

/** An epoch change that follows from a trusted waypoint, as a store keeps it. */
export interface PackedEpochChange {
  readonly epoch: bigint
  /** Packed bytes, as `unpackEnding` reads them. */
  readonly packed: Uint8Array
}

/**
 * Packs an epoch change.
 * @param bytes the ledger info with its signatures, as backups have it
 * @param previous `bytes` of the epoch before; undefined if they are not at hand
 */
export function packEnding(epoch: bigint, bytes: Uint8Array, previous: Uint8Array | undefined): PackedEpochChange {
  const dictionary = epoch % STRIDE === 0n ? undefined : previous
  const deflated = deflateRawSync(bytes, dictionary ? { dictionary } : {})
  const packed = new Uint8Array(1 + deflated.length)
  packed[0] = dictionary ? AFTER_PREVIOUS : WHOLE
  packed.set(deflated, 1)
  return { epoch, packed }
}

/**
 * Unpacks an epoch change.
 * @param previous the result of this function for the previous epoch; undefined for the first one kept
 * @throws `untrusted`
 */
export function unpackEnding({ epoch, packed }: PackedEpochChange, previous: Uint8Array | undefined): Uint8Array {
  const [kind] = packed
  if (kind !== WHOLE && kind !== AFTER_PREVIOUS) throw badEpochChange(epoch, `its kind is ${kind}`)
  const dictionary = kind === AFTER_PREVIOUS ? previous : undefined
  if (kind === AFTER_PREVIOUS && !dictionary) throw badEpochChange(epoch, 'the epoch before is missing')
  try {
    return inflateRawSync(packed.subarray(1), { maxOutputLength: MAX_BYTES, ...(dictionary && { dictionary }) })
  } catch (error) {
    throw badEpochChange(epoch, (error as Error).message)
  }
}
