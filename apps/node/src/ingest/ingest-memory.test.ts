import { expect, it } from 'vitest'
import { ingestTableBytes } from './ingest-memory.js'

const MIB = 2 ** 20

it.each([
  [256, 64],
  [1_024, 64],
  [2_048, 128],
  [6_000, 375],
  [8_192, 512],
  [65_536, 512],
])('of %i MiB of memory an ingest takes %i for unmerged commits', (memory, table) => {
  expect(ingestTableBytes(memory * MIB)).toBe(table * MIB)
})
