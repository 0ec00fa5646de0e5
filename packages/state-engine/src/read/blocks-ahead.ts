import { Buffer } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { ENVELOPE_LENGTH } from '../segments/lmdb-envelope.js'
import type { SegmentReader } from '../segments/segment-reader.js'

/** Reads at the same time: more gained nothing on disks that were measured, and fewer took up to seven times as long. */
const READS_AT_ONCE = 16
/** Most bytes of a read. */
const MOST_BYTES = 2 ** 17
/** Blocks that are at most this far apart are read at once. */
const MOST_GAP = 2 ** 13

/** Bytes of a file. Places count from its beginning. */
interface FileRange {
  readonly file: FileHandle
  readonly start: number
  end: number
}

/**
 * Blocks that look-ups need, read from the disk many at a time. They are only read into the cache of the system: a
 * look-up reads them again, and compares them with their checksums.
 */
export class BlocksAhead {
  readonly #read = new Map<SegmentReader, Set<number>>()
  #noted = new Map<SegmentReader, Set<number>>()

  /** Whether a look-up in a block need not wait for the disk. */
  isAtHand(reader: SegmentReader, block: number): boolean {
    return reader.blocks.isLoaded(block) || this.#read.get(reader)?.has(block) === true
  }

  /** Notes a block for the next `read`. */
  add(reader: SegmentReader, block: number): void {
    const noted = this.#noted.get(reader)
    if (noted) noted.add(block)
    else this.#noted.set(reader, new Set([block]))
  }

  /** Reads the noted blocks. It reports no errors: the look-up that reads a block again meets them. */
  async read(): Promise<void> {
    const noted = this.#noted
    this.#noted = new Map()
    const files = await Promise.all(Array.from(noted.keys(), ({ file }) => openIfPossible(file.path)))
    try {
      const ranges = Array.from(noted).flatMap(([reader, blocks], at) => rangesOf(reader, blocks, files[at]))
      await readRanges(ranges)
    } finally {
      for (const file of files) await file?.close().catch(ignore)
    }
    for (const [reader, blocks] of noted) {
      const before = this.#read.get(reader)
      if (before) for (const block of blocks) before.add(block)
      else this.#read.set(reader, blocks)
    }
  }
}

/** Opens a file again: a merge may close the reader at any time, and remove the file. */
function openIfPossible(path: string): Promise<FileHandle | undefined> {
  return open(path).catch(ignore)
}

function rangesOf({ index }: SegmentReader, blocks: ReadonlySet<number>, file: FileHandle | undefined): FileRange[] {
  const ranges: FileRange[] = []
  if (!file) return ranges
  for (const block of Array.from(blocks).sort((a, b) => a - b)) {
    const start = ENVELOPE_LENGTH + index.placeOf(block)
    const end = ENVELOPE_LENGTH + index.placeOf(block + 1)
    const last = ranges.at(-1)
    if (last && start - last.end <= MOST_GAP && end - last.start <= MOST_BYTES) last.end = end
    else ranges.push({ file, start, end })
  }
  return ranges
}

async function readRanges(ranges: readonly FileRange[]): Promise<void> {
  const left = ranges.values()
  const longest = ranges.reduce((most, { start, end }) => Math.max(most, end - start), 0)
  const readSome = async () => {
    const buffer = Buffer.allocUnsafe(Math.min(MOST_BYTES, longest))
    for (const { file, start, end } of left) {
      for (let at = start; at < end; at += buffer.length) {
        await file.read(buffer, 0, Math.min(buffer.length, end - at), at).catch(ignore)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(READS_AT_ONCE, ranges.length) }, readSome))
}

function ignore(): undefined {}
