import { Buffer } from 'node:buffer'
import type { Write } from '@ledger-state/core'
import { MAX_VALUE_LENGTH } from '@ledger-state/engine'
import { MAX_ANNOTATION_LENGTH } from '@ledger-state/engine/authoring'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine } from '../open-state-engine.js'

const folder = temporaryFolder()

it.each(['never', 'always'] as const)('a store with the longest values is sound, compressed: %s', async (compress) => {
  const engine = openStateEngine({ path: folder.path, durability: 'none', compress })
  const value = new Uint8Array(MAX_VALUE_LENGTH).fill(0xff)
  const writes = [
    [bytes('plain'), new Uint8Array(MAX_VALUE_LENGTH)],
    [bytes('ends with ff'), value],
    [bytes('with an annotation'), value, new Uint8Array(MAX_ANNOTATION_LENGTH).fill(1)],
  ] satisfies Write[]
  await engine.commit([record(0, writes, 0)], CHAIN)
  await engine.compact()
  expect((await engine.check()).problems).toEqual([])
  for (const [key, written] of writes) expect(Buffer.compare(engine.at().get(key)!, written)).toBe(0)
  await engine.close()
})
