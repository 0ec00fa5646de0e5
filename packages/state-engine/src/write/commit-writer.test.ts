import type { Write } from '@ledger-state/core'
import { MAX_VALUE_LENGTH } from '@ledger-state/engine'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine } from '../open-state-engine.js'

const folder = temporaryFolder()

it('a commit whose offsets would have more than 32 bits is refused before anything changes', async () => {
  const engine = openStateEngine({ path: folder.path, durability: 'none' })
  // All values are the same bytes, and nothing copies them before the commit is refused.
  const value = new Uint8Array(MAX_VALUE_LENGTH)
  const writes = Array.from({ length: 256 }, (_, at): Write => [bytes(`key ${at}`), value])
  for (const next of [0, 1]) {
    await expect(engine.commit([record(next, writes, next)], CHAIN)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(
        /^a commit of 42\d{8} bytes is too long; at most 4294967295: commit fewer versions/,
      ),
    })
    await engine.commit([record(next, [[bytes('key'), bytes('value')]], next)], CHAIN)
  }
  expect(engine.ledger?.latestVersion).toBe(1n)
  expect([...engine.at().scan(new Uint8Array(0))]).toHaveLength(1)
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
})
