import { Buffer } from 'node:buffer'
import { isSystemError } from '@ledger-state/core/files'
import type { SharedFiles } from '@ledger-state/feed'
import { manifestErrors } from '../errors.js'
import { MANIFEST_NAME, MOST_MANIFEST_BYTES, parseManifest, type SegmentsManifest } from './segments-manifest.js'

/** Turns an error of the system, which only files in a folder have, into one that names the place. */
export function toReadError(files: SharedFiles, name: string, error: unknown): unknown {
  if (!isSystemError(error)) return error
  const isInFile = (error as NodeJS.ErrnoException).code === 'ENOTDIR'
  return isInFile ? manifestErrors.notAFolder(files.root) : manifestErrors.unreadable(files.placeOf(name), error)
}

/** Reads the manifest of shared files. @throws `source_failed` if it is none; errors of the place */
export async function readManifest(files: SharedFiles): Promise<SegmentsManifest> {
  const place = files.placeOf(MANIFEST_NAME)
  const pieces: Buffer[] = []
  let bytes = 0
  try {
    for await (const piece of files.read(MANIFEST_NAME, 0, undefined)) {
      pieces.push(piece)
      bytes += piece.length
      if (bytes > MOST_MANIFEST_BYTES)
        throw manifestErrors.notAManifest(place, `it has more than ${MOST_MANIFEST_BYTES} bytes`)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw manifestErrors.missing(place)
    throw toReadError(files, MANIFEST_NAME, error)
  }
  const manifest = parseManifest(Buffer.concat(pieces).toString('utf8'))
  if (typeof manifest === 'string') throw manifestErrors.notAManifest(place, manifest)
  return manifest
}
