import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { bytes } from '../testing/small-records.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { COUNTER_KEY_ENCODER } from './bytes/counter-key.js'
import { NUMBERED_KEY_ENCODER, type NumberedKey } from './bytes/numbered-key.js'
import { type LmdbStore, openLmdbStore } from './lmdb/lmdb-store.js'
import type { Table } from './lmdb/table.js'
import { openStateEngine } from './open-state-engine.js'
import { FILE_HEADER_LENGTH } from './wal/file-header.js'
import { RECORD_HEADER_LENGTH } from './wal/record.js'

const DOCS = fileURLToPath(new URL('../../../docs/storage.md', import.meta.url))
const CHAIN = { chainId: 4 }
const folder = temporaryFolder()

function exampleLines(): string[] {
  const [, example] = /### A worked example\n(.*?)\n## /s.exec(readFileSync(DOCS, 'utf8'))!
  return example!.replace('(24 zeros)', '00'.repeat(24)).split('\n')
}

/** Each record in the notation of the example: name of the database, key, value. */
function recordsOf(store: LmdbStore): string[] {
  const key = Buffer.alloc(64)
  const numbered = (one: NumberedKey) => key.subarray(0, NUMBERED_KEY_ENCODER.writeKey(one, key, 0))
  const counter = (one: number) => key.subarray(0, COUNTER_KEY_ENCODER.writeKey(one, key, 0))
  const list = <K>(name: string, table: Table<K>, toBytes: (key: K) => Uint8Array) =>
    [...table.getRange({ start: undefined, end: undefined })].map(
      (entry) => `${name}${Buffer.from(toBytes(entry.key)).toString('hex')}${entry.value.toString('hex')}`,
    )
  return [
    ...list('latest', store.latestByStoredKey, (one) => one),
    ...list('history-log', store.historyLog, counter),
    ...list('generations', store.generations, counter),
    ...list('garbage', store.garbage, numbered),
    ...list('block-lists', store.blockLists, numbered),
  ]
}

it('a store has the bytes that docs/storage.md shows', async () => {
  const path = join(folder.path, 'example')
  const engine = openStateEngine({ path, durability: 'none' })
  const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
  await engine.commit([{ version: 0n, block, writes: [[bytes('a'), bytes('one')]] }], CHAIN)
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

  // A commit without versions that is merged at once merges the memtable as well.
  const merger = openStateEngine({ path, durability: 'none', memtableBytes: 0 })
  await merger.commit([{ version: 3n, writes: [] }], CHAIN)
  await merger.close()
  const store = openLmdbStore({ path, readOnly: true })
  const records = recordsOf(store)
  await store.root.close()
  expect(records).toHaveLength(7)
  for (const record of records) expect(lines).toContainEqual(expect.stringMatching(`^${record}`))
})
