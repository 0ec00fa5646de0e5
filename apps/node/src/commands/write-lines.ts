import { open, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip, createZstdCompress } from 'node:zlib'
import { isPresent, isSystemError, moveDurably } from '@ledger-state/core/files'
import { isStoreFile, STORE_FILE } from '@ledger-state/state-engine'
import { exportFailed } from '../errors.js'
import { findWriteTarget, type WriteTarget } from '../stores/write-target.js'

const PIECE_CHARACTERS = 65_536
/** Ending of the file's name until it is whole. */
const UNFINISHED = '.unfinished'

/**
 * Writes to the place that a path names. A file gets its name only once it is whole, and nothing is left if writing
 * fails or the signal stops it. Pipes and devices are written to, and links are followed. Files of stores are not replaced.
 */
export async function writeLinesTo(path: string, lines: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  try {
    const target = await findWriteTarget(path)
    if (target.kind === 'folder') throw exportFailed.isFolder(path)
    if (target.kind === 'file') {
      if (isOfStore(target.path)) throw exportFailed.isOfStore(path)
      return await writeWhole(target, path, lines, signal)
    }
    const stream = await target.open(signal)
    if (stream) await writeLines(stream, path, lines, signal)
  } catch (error) {
    if (signal.aborted) return
    throw isSystemError(error) ? exportFailed.cannotExport(path, error) : error
  }
}

/** Whether a file belongs, or would belong, to the store in its folder, which would be lost. */
function isOfStore(path: string): boolean {
  return isStoreFile(basename(path)) && isPresent(join(dirname(path), STORE_FILE))
}

async function writeWhole(
  { path, mode }: WriteTarget & { readonly kind: 'file' },
  name: string,
  lines: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const unfinished = path + UNFINISHED
  await rm(unfinished, { force: true })
  const file = await open(unfinished, 'wx')
  const { ino } = await file.stat()
  // Another export to the same path removes this file, and begins its own.
  const isOurs = async () => (await stat(unfinished).catch(() => undefined))?.ino === ino
  try {
    if (mode !== undefined) await file.chmod(mode)
    await writeLines(file.createWriteStream(), name, lines, signal)
    if (!(await isOurs())) throw exportFailed.otherWrites(name)
    await moveDurably(unfinished, path)
  } catch (error) {
    if (await isOurs()) await rm(unfinished, { force: true })
    throw error
  }
}

async function writeLines(
  file: Writable,
  name: string,
  lines: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const text = Readable.from(inPieces(lines))
  if (name.endsWith('.gz')) await pipeline(text, createGzip(), file, { signal })
  else if (name.endsWith('.zst')) {
    await pipeline(text, createZstdCompress({ params: { [constants.ZSTD_c_checksumFlag]: 1 } }), file, { signal })
  } else await pipeline(text, file, { signal })
}

/** Joins lines into larger pieces, which a stream handles faster. */
async function* inPieces(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let piece = ''
  for await (const line of lines) {
    piece += `${line}\n`
    if (piece.length < PIECE_CHARACTERS) continue
    yield Buffer.from(piece)
    piece = ''
  }
  yield Buffer.from(piece)
}
