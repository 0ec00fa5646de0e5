import { resolveBackupObject } from './backup-directory.js'
import type { BackupStorage } from './backup-storage.js'

/** The objects of a chunk of a backup. */
export interface ChunkObjects {
  /** Name of the object with the records. */
  readonly name: string
  /** Name of the object with the proof; empty if the chunk is not verified. */
  readonly proofName: string
  /** Bytes of both objects, as they are stored. */
  readonly bytes: number
}

/**
 * Finds the objects of a chunk, given their names in a manifest.
 * @param proofHandle empty if the chunk is not verified
 * @throws `invalid_backup`
 */
export async function findChunkObjects(
  storage: BackupStorage,
  handle: string,
  proofHandle: string,
): Promise<ChunkObjects> {
  const records = await resolveBackupObject(storage, handle)
  const proof = proofHandle === '' ? undefined : await resolveBackupObject(storage, proofHandle)
  return { name: records.name, proofName: proof?.name ?? '', bytes: records.bytes + (proof?.bytes ?? 0) }
}

/** Makes the objects of a chunk available on this machine. Returns their paths, an empty one for no proof. */
export async function fetchChunkObjects(
  storage: BackupStorage,
  { name, proofName }: ChunkObjects,
): Promise<{ readonly path: string; readonly proofPath: string }> {
  const [path, proofPath] = await Promise.all([
    storage.localFile(name),
    proofName === '' ? '' : storage.localFile(proofName),
  ])
  return { path, proofPath }
}
