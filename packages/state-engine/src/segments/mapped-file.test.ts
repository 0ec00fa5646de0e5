import { Buffer } from 'node:buffer'
import { closeSync, existsSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { expect, it } from 'vitest'
import { changeByte } from '../../testing/page-damage.ts'
import { openSegment, writeSegment } from '../../testing/segment-files.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { ENVELOPE_LENGTH, encodeEnvelope, fileLength, SEGMENT_KEY } from './lmdb-envelope.ts'
import { mapFile } from './mapped-file.ts'

const folder = temporaryFolder()

/** The file at a path, as if it was open. */
function fileAt(path: string, length: number) {
  return { path, length, isInPlace: () => true }
}

function writeFile(name: string, length: number): { readonly path: string; readonly content: Buffer } {
  const content = Buffer.from(Array.from({ length: 251 }, (_, at) => at))
  const value = Buffer.alloc(length, content)
  const path = join(folder.path, name)
  const padding = Buffer.alloc(fileLength(length) - ENVELOPE_LENGTH - length)
  writeFileSync(path, Buffer.concat([encodeEnvelope(length), value, padding]))
  return { path, content: value }
}

it.each([1, 4_072, 5_000, 3_000_000])('lmdb-js maps a value of %i bytes', (length) => {
  const { path, content } = writeFile('one', length)
  const mapped = mapFile(fileAt(path, length))
  expect(Buffer.from(mapped.bytes).equals(content)).toBe(true)
  mapped.close()
})

it('the bytes are mapped from the file, not copied: a byte that is changed in the file changes in the map', () => {
  const { path, content } = writeFile('changing', 10_000)
  const mapped = mapFile(fileAt(path, content.length))
  changeByte(path, ENVELOPE_LENGTH + 1_000, 255)
  expect(mapped.bytes[1_000]).toBe(content[1_000]! ^ 255)
  mapped.close()
})

it('a file is mapped by several at once, and again after all have closed it', () => {
  const { path, content } = writeFile('shared', 100_000)
  for (let round = 0; round < 3; round++) {
    const [one, other] = [mapFile(fileAt(path, content.length)), mapFile(fileAt(path, content.length))]
    one.close()
    expect(Buffer.from(other.bytes).equals(content)).toBe(true)
    other.close()
  }
  expect(readdirSync(folder.path)).toEqual(['shared'])
})

it.runIf(existsSync('/proc/self/fd'))('a file that LMDB cannot map is read into the cache', () => {
  const path = join(folder.path, 'segment')
  writeSegment(path, new Map(), 0, 9)
  const descriptor = openSync(path, 'r')
  // A file that has no link any more, and whose folder takes none.
  const nameless = `/proc/self/fd/${descriptor}`
  rmSync(path)
  expect(() => mapFile(fileAt(nameless, 1))).toThrow(/ENOENT|EXDEV|EPERM/)
  const reader = openSegment(nameless, true)
  expect(reader.summary.lists).toBe(1)
  reader.close()
  closeSync(descriptor)
})

it('a file that is gone is no crash', () => {
  for (let round = 0; round < 50; round++)
    expect(() => mapFile(fileAt(join(folder.path, 'gone'), 10))).toThrow('ENOENT')
})

it('lmdb opens a file as an environment of one value', async () => {
  const { path, content } = writeFile('environment', 70_000)
  const options = { path, noSubdir: true, encoding: 'binary', keyEncoding: 'binary', readOnly: true } as const
  const database = open<Buffer, Uint8Array>(options)
  expect(database.getBinary(SEGMENT_KEY)!.equals(content)).toBe(true)
  expect([...database.getKeys()].map((key) => Buffer.from(key).toString())).toEqual(['s'])
  await database.close()
})
