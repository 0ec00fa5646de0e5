import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import { compareBytes } from './compare-bytes.js'
import { FOOTER_LENGTH, hashedFooter, PARTS } from './format.js'
import { type KeyProbe, tagOf } from './key-filter.js'
import { SKETCH_HASHES, sketchHash } from './key-sketch.js'
import { ENVELOPE_LENGTH, fileLength } from './lmdb-envelope.js'
import { SegmentCursor } from './segment-cursor.js'
import type { SegmentFile } from './segment-file.js'
import { SegmentLists } from './segment-lists.js'
import type { SegmentReader } from './segment-reader.js'

const READ_AT_ONCE = 2 ** 20
const STEP_ENTRIES = 1_024

/**
 * Checks a whole file in steps of about a millisecond: the hash, each block and part, the order of keys and versions, the
 * index, the filter, the sketch and the counts. Each step yields the number of writes that it checked. `probe` hashes with the seed of the
 * file. `onKey` is called for each key, which the probe has then, with the version of its oldest write, less the first of the
 * file. @throws `store_corrupt` with the place
 */
export function* checkSegment(
  reader: SegmentReader,
  probe: KeyProbe,
  onKey: (oldest: number) => void = () => {},
): Generator<number> {
  yield* checkHash(reader.file)
  for (const name of PARTS) reader.file.verifyPart(reader.summary.parts[name], name)
  yield* checkEntries(reader, probe, onKey)
  checkLists(reader)
}

function* checkHash(file: SegmentFile): Generator<number> {
  const hash = createHash('sha256')
  const buffer = new Uint8Array(READ_AT_ONCE)
  const footerAt = file.length - FOOTER_LENGTH
  for (let at = 0; at < footerAt; at += READ_AT_ONCE) {
    const chunk = buffer.subarray(0, Math.min(READ_AT_ONCE, footerAt - at))
    file.read(chunk, at)
    hash.update(chunk)
    yield 0
  }
  const footer = Buffer.alloc(FOOTER_LENGTH)
  file.read(footer, footerAt)
  if (!hash.update(hashedFooter(footer)).digest().equals(file.summary.sha256)) {
    throw file.damaged(footerAt, 'the SHA-256 of the file is another one')
  }
  const padding = Buffer.alloc(fileLength(file.length) - ENVELOPE_LENGTH - file.length)
  file.read(padding, file.length)
  if (padding.some((byte) => byte !== 0)) throw file.damaged(file.length, 'something follows the segment')
}

function* checkEntries(reader: SegmentReader, probe: KeyProbe, onKey: (oldest: number) => void): Generator<number> {
  const { file, index } = reader
  const { firstVersion, lastVersion } = reader.identity
  const mostVersion = Number(lastVersion - firstVersion)
  const cursor = new SegmentCursor(reader, { checksContent: true })
  const sketch = new Set(reader.sketch)
  const missing = new Set(sketch)
  const bound = sketch.size < SKETCH_HASHES ? Number.POSITIVE_INFINITY : reader.sketch.at(-1)!
  let [keys, writes, entries, yielded] = [0, 0, 0, 0]
  let before: Uint8Array | undefined
  let version = -1
  while (cursor.next()) {
    const { entry } = cursor
    const place = index.placeOf(cursor.block)
    if (cursor.isNewKey) {
      const key = cursor.key.copy()
      if (before && compareBytes(before, 0, before.length, key, 0, key.length) >= 0) {
        throw file.damaged(place, 'the keys of a block do not ascend')
      }
      probe.take(key)
      if (!reader.mayHave(probe))
        throw file.damaged(file.summary.parts.filter.start, 'the filter does not contain a key')
      const hash = sketchHash(probe.first, probe.second)
      if (hash <= bound && !sketch.has(hash)) throw wrongSketch(file)
      missing.delete(hash)
      onKey(entry.versions[0]!)
      before = key
      keys++
      version = -1
    }
    if (cursor.tag !== tagOf(probe.second)) throw file.damaged(place, 'a tag of a block is not that of its key')
    if (entry.count === 0) throw file.damaged(place, 'an entry of a block has no writes')
    for (let write = 0; write < entry.count; write++) {
      if (entry.versions[write]! <= version || entry.versions[write]! > mostVersion) {
        throw file.damaged(place, 'the versions of a key do not ascend')
      }
      version = entry.versions[write]!
    }
    if (index.blockOf(before!, entry.versions[0]!) !== cursor.block) {
      throw file.damaged(file.summary.parts.index.start, `the index does not lead to block ${cursor.block}`)
    }
    writes += entry.count
    if (++entries % STEP_ENTRIES !== 0) continue
    yield writes - yielded
    yielded = writes
  }
  yield writes - yielded
  if (missing.size > 0) throw wrongSketch(file)
  if (keys !== file.summary.keys || writes !== file.summary.writes) {
    throw file.damaged(
      file.length - FOOTER_LENGTH,
      `the file has ${keys} keys and ${writes} writes, not those it names`,
    )
  }
}

function wrongSketch(file: SegmentFile): Error {
  return file.damaged(file.summary.parts.sketch.start, 'the sketch is not that of the keys')
}

function checkLists(reader: SegmentReader): void {
  const { file, identity } = reader
  let before = -1n
  for (const { firstVersion } of new SegmentLists(reader)) {
    if (firstVersion <= before || firstVersion > identity.lastVersion) {
      throw file.damaged(file.summary.parts.lists.start, 'the lists of blocks do not ascend')
    }
    before = firstVersion
  }
}
