import { ByteReader, ByteWriter } from '@ledger-state/core'
import { readCheckpoint, type SignedCheckpoint, writeCheckpoint } from '@ledger-state/proof'

/** Encodes a signed checkpoint in the form in which stores keep it. */
export function checkpointToBytes(checkpoint: SignedCheckpoint): Uint8Array {
  const writer = new ByteWriter()
  writeCheckpoint(writer, checkpoint)
  return writer.toBytes()
}

/** Reads a checkpoint that `checkpointToBytes` encoded. @throws `invalid_bcs` */
export function bytesToCheckpoint(bytes: Uint8Array): SignedCheckpoint {
  const reader = new ByteReader(bytes)
  const checkpoint = readCheckpoint(reader)
  reader.expectEnd()
  return checkpoint
}
