import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'

/** Length of a piece of a file. If one comes damaged, only this piece is fetched again. */
export const PIECE_BYTES = 16 * 1024 * 1024
const READ_BYTES = 1024 * 1024

/** A file of a snapshot. */
export interface SnapshotFile {
  readonly name: string
  readonly bytes: number
  /** SHA-256 of each piece in hex; the last piece may be shorter than the others. */
  readonly pieces: readonly string[]
}

/** The files of a snapshot, as `GET /snapshots/ID` lists them. */
export interface Snapshot {
  readonly id: string
  readonly pieceBytes: number
  readonly files: readonly SnapshotFile[]
}

/** Reads a file and describes it for a manifest. */
export async function describeFile(path: string, pieceBytes = PIECE_BYTES): Promise<SnapshotFile> {
  const pieces: string[] = []
  let hash = createHash('sha256')
  let bytes = 0
  const endPiece = () => {
    pieces.push(hash.digest('hex'))
    hash = createHash('sha256')
  }
  for await (const chunk of createReadStream(path, { highWaterMark: READ_BYTES })) {
    for (const part of splitAtPieces(chunk as Uint8Array, bytes, pieceBytes)) {
      hash.update(part)
      bytes += part.length
      if (bytes % pieceBytes === 0) endPiece()
    }
  }
  if (bytes % pieceBytes > 0) endPiece()
  return { name: basename(path), bytes, pieces }
}

/** Splits a chunk of a file at the borders of pieces. @param offset of the chunk in the file */
export function* splitAtPieces(chunk: Uint8Array, offset: number, pieceBytes: number): Generator<Uint8Array> {
  for (let at = 0; at < chunk.length; ) {
    const end = at + pieceBytes - ((offset + at) % pieceBytes)
    yield chunk.subarray(at, end)
    at = end
  }
}

/**
 * Parses the manifest in an answer of a source. Undefined if it is not a manifest, names a file twice, or names one
 * outside of its folder.
 */
export function parseSnapshot(value: unknown): Snapshot | undefined {
  const { id, pieceBytes, files } = (value ?? {}) as Partial<Record<keyof Snapshot, unknown>>
  if (typeof id !== 'string' || !/^[\w-]{1,100}$/.test(id) || !isCount(pieceBytes) || pieceBytes === 0) return undefined
  if (!Array.isArray(files) || !files.every((file) => isSnapshotFile(file, pieceBytes))) return undefined
  if (new Set(files.map(({ name }) => name)).size !== files.length) return undefined
  return { id, pieceBytes, files }
}

function isSnapshotFile(file: unknown, pieceBytes: number): file is SnapshotFile {
  const { name, bytes, pieces } = (file ?? {}) as Partial<Record<keyof SnapshotFile, unknown>>
  if (typeof name !== 'string' || !/^\w[\w.-]{0,200}$/.test(name) || !isCount(bytes)) return false
  return Array.isArray(pieces) && pieces.length === Math.ceil(bytes / pieceBytes) && pieces.every(isDigest)
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
const isDigest = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
