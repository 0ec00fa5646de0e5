import { createReadStream } from 'node:fs'
import { ByteReader } from '@ledger-state/core'
import { atFile } from '../files/backup-place.js'
import { readContent } from '../files/compressed-file.js'

const MAX_PROOF_BYTES = 16 * 1024 * 1024

/**
 * Reads a proof from a file.
 * @throws `invalid_backup` naming the file
 */
export async function readProof<T>(path: string, read: (reader: ByteReader) => T): Promise<T> {
  const bytes = await readContent(createReadStream(path), path, MAX_PROOF_BYTES)
  return atFile(path, 'the proof', () => read(new ByteReader(bytes)))
}
