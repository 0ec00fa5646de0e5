import { createHash } from 'node:crypto'
import type { SharedFiles } from '@ledger-state/feed'
import { manifestErrors } from '../errors.js'
import { readManifest, toReadError } from './read-manifest.js'
import { nameOfFile, type SegmentsManifest } from './segments-manifest.js'

/** Callbacks for the progress of a verification, and a signal that stops it. */
export interface VerifySegmentsOptions {
  /** Called with the bytes that were read, and all. */
  readonly onProgress?: ((bytes: number, total: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Reads all files that a manifest names, and compares their lengths and hashes with it. It stores nothing.
 * @throws `store_corrupt` for the first file that differs, by its name; `source_failed` if there is no manifest
 */
export async function verifySegments(
  files: SharedFiles,
  { onProgress, signal }: VerifySegmentsOptions = {},
): Promise<SegmentsManifest> {
  const manifest = await readManifest(files)
  const total = manifest.files.reduce((sum, { bytes }) => sum + bytes, 0)
  let done = 0
  for (const file of manifest.files) {
    const name = nameOfFile(file)
    const hash = createHash('sha256')
    let bytes = 0
    try {
      for await (const piece of files.read(name, 0, file.bytes)) {
        hash.update(piece)
        bytes += piece.length
        if (bytes > file.bytes) break
        done += piece.length
        onProgress?.(done, total)
        signal?.throwIfAborted()
      }
    } catch (error) {
      signal?.throwIfAborted()
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw manifestErrors.fileMissing(files.placeOf(name))
      throw toReadError(files, name, error)
    }
    if (bytes !== file.bytes) throw manifestErrors.otherLength(files.placeOf(name), bytes, file.bytes)
    if (hash.digest('hex') !== file.sha256) throw manifestErrors.otherHash(files.placeOf(name))
  }
  return manifest
}
