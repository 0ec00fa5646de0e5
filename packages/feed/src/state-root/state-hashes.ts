import type { HashBatch } from '@ledger-state/proof'
import { annotationToNote } from '@ledger-state/records'

const NO_METADATA = 0
const WITH_METADATA = 1
/** Bytes of metadata in BCS at most. */
const METADATA_LENGTH = 25

/** Adds the hash of a state key to a batch. */
export function addStateKey(batch: HashBatch, key: Uint8Array): void {
  batch.begin('StateKey')
  batch.put(key)
  batch.end()
}

/** Adds the hash of a state value, as encoded by `encodeStateValue`, to a batch. */
export function addStateValue(batch: HashBatch, value: Uint8Array, annotation: Uint8Array | undefined): void {
  const metadata = annotation && annotationToNote(annotation).metadata
  batch.begin('StateValue')
  batch.putByte(metadata ? WITH_METADATA : NO_METADATA)
  let rest = value.length
  for (; rest > 127; rest >>>= 7) batch.putByte((rest & 127) | 128)
  batch.putByte(rest)
  batch.put(value)
  if (metadata) {
    const { slotDeposit, bytesDeposit, creationTimeUsec } = metadata
    const bytes = new Uint8Array(METADATA_LENGTH)
    const view = new DataView(bytes.buffer)
    let length = 1
    const putU64 = (number: bigint) => {
      view.setBigUint64(length, number, true)
      length += 8
    }
    bytes[0] = bytesDeposit === undefined ? 0 : 1
    putU64(slotDeposit)
    if (bytesDeposit !== undefined) putU64(bytesDeposit)
    putU64(creationTimeUsec)
    batch.put(bytes.subarray(0, length))
  }
  batch.end()
}
