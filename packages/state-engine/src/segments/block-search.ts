import { Buffer } from 'node:buffer'
import { endAt, operationLength } from './block-layout.js'
import { partOf } from './byte-output.js'
import { ABSENT, type Found, PRESENT, REMOVED } from './found.js'
import { type KeyProbe, tagOf } from './key-filter.js'
import { applyPatch } from './patch.js'

const NONE = -1

/** The write that a search found. */
export class SegmentMatch {
  /** The bytes that have the value: those of the block, or a buffer that the next patched value overwrites. */
  bytes: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  /** Version of the write, less the first of the file. */
  version = 0
  /** Buffer in which patched values are put together. */
  #restored = new Uint8Array(256)

  /**
   * Searches the content of a block, which begins at `base`, for the newest write of a key at or below a version, less the
   * first of the file.
   */
  findIn(bytes: Uint8Array, base: number, probe: KeyProbe, version: number): Found {
    const width = bytes[base + 1]!
    const count = bytes[base + 2]! | (bytes[base + 3]! << 8)
    const tags = base + 4
    const ends = tags + count
    const entries = ends + width * count
    const tag = tagOf(probe.second)
    const { key } = probe
    for (let entry = 0; entry < count; entry++) {
      if (bytes[tags + entry] !== tag) continue
      let at = entry === 0 ? entries : entries + endAt(bytes, ends, width, entry - 1)
      // The length of the key + 1; 0 for the key of the entry before, which then was not the one.
      let length = bytes[at++]!
      if (length > 127) {
        length &= 127
        for (let shift = 7; ; shift += 7) {
          const byte = bytes[at++]!
          length |= (byte & 127) << shift
          if (byte < 128) break
        }
      }
      if (length !== key.length + 1) continue
      // Keys differ in their last bytes more often than in the first ones.
      let place = key.length - 1
      while (place >= 0 && bytes[at + place] === key[place]) place--
      if (place >= 0) continue
      at += key.length
      let newest = NONE
      for (;;) {
        let byte = bytes[at + 1]!
        let first = byte & 127
        for (let unit = 128, next = at + 2; byte > 127; unit *= 128) {
          byte = bytes[next++]!
          first += (byte & 127) * unit
        }
        if (first > version) break
        newest = at
        if (++entry >= count || bytes[tags + entry] !== tag) break
        at = entries + endAt(bytes, ends, width, entry - 1)
        if (bytes[at++] !== 0) break
      }
      return newest === NONE ? ABSENT : this.#findInEntry(bytes, newest, version)
    }
    return ABSENT
  }

  /**
   * Finds the newest write at or below a version of the key that begins with an entry of a block; `at` is the offset after
   * the key. Undefined if the next block may have it.
   */
  findFrom(bytes: Uint8Array, base: number, entry: number, at: number, version: number): Found | undefined {
    const width = bytes[base + 1]!
    const count = bytes[base + 2]! | (bytes[base + 3]! << 8)
    const ends = base + 4 + count
    const entries = ends + width * count
    let newest = NONE
    for (let next = entry; ; ) {
      let byte = bytes[at + 1]!
      let first = byte & 127
      for (let unit = 128, place = at + 2; byte > 127; unit *= 128) {
        byte = bytes[place++]!
        first += (byte & 127) * unit
      }
      if (first > version) break
      newest = at
      if (++next >= count) return undefined
      at = entries + endAt(bytes, ends, width, next - 1)
      if (bytes[at++] !== 0) break
    }
    return newest === NONE ? ABSENT : this.#findInEntry(bytes, newest, version)
  }

  /** Takes the newest write at or below a version of an entry that has one. Its number of writes is at `at`. */
  #findInEntry(bytes: Uint8Array, at: number, version: number): Found {
    const count = bytes[at++]!
    let hit = 0
    let sum = 0
    for (let write = 0; write < count; write++) {
      let byte = bytes[at++]!
      let more = byte & 127
      for (let unit = 128; byte > 127; unit *= 128) {
        byte = bytes[at++]!
        more += (byte & 127) * unit
      }
      sum += more
      if (sum <= version) {
        hit = write
        this.version = sum
      }
    }
    let offset = 0
    let operation = 0
    // The last whole value up to the hit, its place among the values, and the place of the operation after its own.
    let whole = 0
    let wholeOffset = 0
    let patches = at
    let length = 0
    for (let write = 0; write < count; write++) {
      let byte = bytes[at++]!
      let read = byte & 127
      for (let unit = 128; byte > 127; unit *= 128) {
        byte = bytes[at++]!
        read += (byte & 127) * unit
      }
      if (write > hit) continue
      if (write > 0) offset += operationLength(operation)
      operation = read
      if ((read & 1) === 0) continue
      whole = write
      wholeOffset = offset
      patches = at
      length = operationLength(read)
    }
    if (operation === 0) return REMOVED
    this.bytes = bytes
    this.start = at + wholeOffset
    this.end = this.start + length
    if (whole < hit) this.#restore(patches, hit - whole)
    return PRESENT
  }

  /** Applies patches to a copy of the value, after which they lie. The operation of the first one is at `operationAt`. */
  #restore(operationAt: number, count: number): void {
    const { bytes, start, end } = this
    const length = end - start
    if (length > this.#restored.length) this.#restored = new Uint8Array(Buffer.allocUnsafeSlow(2 * length).buffer)
    const restored = this.#restored
    restored.set(partOf(bytes, start, end))
    for (let at = end, patch = 0; patch < count; patch++) {
      let byte = bytes[operationAt++]!
      let operation = byte & 127
      for (let unit = 128; byte > 127; unit *= 128) {
        byte = bytes[operationAt++]!
        operation += (byte & 127) * unit
      }
      const next = at + operationLength(operation)
      applyPatch(restored, 0, length, bytes, at, next)
      at = next
    }
    this.bytes = restored
    this.start = 0
    this.end = length
  }
}
