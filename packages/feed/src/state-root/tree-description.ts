import { Buffer } from 'node:buffer'
import { ByteReader, ByteWriter } from '@ledger-state/core'
import { readCheckpoint, type SignedCheckpoint, writeCheckpoint } from '@ledger-state/proof'

/** Description of a state in the file of its tree. */
export interface TreeDescription {
  /** The word before the name of each hash. */
  readonly hashSalt: string
  readonly checkpoint: SignedCheckpoint
}

/** BCS of the salt and of the checkpoint. */
export function descriptionToBytes({ hashSalt, checkpoint }: TreeDescription): Uint8Array {
  const writer = new ByteWriter().string(hashSalt)
  writeCheckpoint(writer, checkpoint)
  return writer.toBytes()
}

/**
 * Reads a description that `descriptionToBytes` wrote.
 * @throws `invalid_bcs`
 */
export function bytesToDescription(bytes: Uint8Array): TreeDescription {
  const reader = new ByteReader(bytes)
  const hashSalt = Buffer.from(reader.readByteString()).toString('utf8')
  const checkpoint = readCheckpoint(reader)
  reader.expectEnd()
  return { hashSalt, checkpoint }
}
