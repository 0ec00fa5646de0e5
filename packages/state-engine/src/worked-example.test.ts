import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { openSegment } from '../testing/segment-files.ts'
import { bytes } from '../testing/small-records.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { openLmdbStore } from './lmdb/lmdb-store.js'
import { openStateEngine } from './open-state-engine.js'
import { listSegmentRows } from './records/segment-rows.js'
import { BLOCK_HEAD_LENGTH } from './segments/format.js'
import { ENVELOPE_LENGTH } from './segments/lmdb-envelope.js'
import { segmentPath } from './segments/segment-names.js'
import { FILE_HEADER_LENGTH } from './wal/file-header.js'
import { RECORD_HEADER_LENGTH } from './wal/record.js'

const DOCS = fileURLToPath(new URL('../../../docs/storage.md', import.meta.url))
const CHAIN = { chainId: 4 }
const folder = temporaryFolder()

function exampleLines(): string[] {
  const [, example] = /### A worked example\n(.*?)\n## /s.exec(readFileSync(DOCS, 'utf8'))!
  return example!.split('\n')
}

it('a store has the bytes that docs/storage.md shows', async () => {
  const path = join(folder.path, 'example')
  const engine = openStateEngine({ path, durability: 'none' })
  const genesis = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit([{ version: 0n, block: genesis, writes: [[bytes('a'), bytes('one')]] }], CHAIN)
  const second = [
    [bytes('a'), bytes('two')],
    [bytes('b'), bytes('x')],
  ] as const
  const third = [[bytes('b'), null]] as const
  await engine.commit(
    [
      { version: 1n, writes: second },
      { version: 2n, writes: third },
    ],
    CHAIN,
  )
  await engine.close()

  const lines = exampleLines().map((line) => line.replaceAll(' ', ''))
  const file = readFileSync(join(path, 'write-ahead-1')).subarray(FILE_HEADER_LENGTH)
  // The store id and the checksums are random.
  expect(lines).toContainEqual(expect.stringContaining(file.subarray(0, RECORD_HEADER_LENGTH - 12).toString('hex')))
  // In the example, two spaces separate the bytes from their description.
  const payload = exampleLines().map((line) => /^([0-9a-f ]+?) {2}/.exec(line)?.[1]?.replaceAll(' ', '') ?? '')
  expect(payload.join('')).toContain(file.subarray(RECORD_HEADER_LENGTH).toString('hex'))

  // A commit without versions that is merged at once also merges the memtable.
  const merger = openStateEngine({ path, durability: 'none', memtableBytes: 0 })
  await merger.commit([{ version: 3n, writes: [] }], CHAIN)
  await merger.close()
  const store = openLmdbStore({ path, readOnly: true })
  const rows = listSegmentRows(store)
  await store.root.close()
  expect(rows.map(({ firstVersion, lastVersion, writes, keys }) => [firstVersion, lastVersion, writes, keys])).toEqual([
    [0n, 0n, 1, 1],
    [1n, 2n, 3, 2],
    [3n, 3n, 0, 0],
  ])
  const reader = openSegment(segmentPath(path, rows[1]!.file), false)
  const place = ENVELOPE_LENGTH + reader.index.placeOf(0) + BLOCK_HEAD_LENGTH
  const end = ENVELOPE_LENGTH + reader.index.placeOf(1)
  const block = readFileSync(segmentPath(path, rows[1]!.file)).subarray(place, end)
  reader.close()
  // The tags of the keys depend on the random store id.
  const [tagsAt, tagsEnd] = [2 * 4, 2 * 6]
  const hex = block.toString('hex')
  expect(payload.join('')).toMatch(new RegExp(`${hex.slice(0, tagsAt)}.{4}${hex.slice(tagsEnd)}`))
})
