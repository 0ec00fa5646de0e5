import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Write } from '@ledger-state/core'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, openStateEngineReader } from '../open-state-engine.js'

const folder = temporaryFolder()
/** More keys than two runs have that are sorted at once, in fewer bytes than the thread takes. */
const KEYS = 17_000
/** Steps in which so many keys are sorted, and one more. */
const STEPS = 9

it('a scan at any step of a flush on the event loop takes no key away', async () => {
  const engine = openStateEngine({ path: folder.path, durability: 'none' })
  await engine.commit([record(0, [], 0)], CHAIN)
  for (let step = 0; step < STEPS; step++) {
    const writes = Array.from({ length: KEYS }, (_, at): Write => [bytes(`${(at * 7_919) % KEYS} ${step}`), bytes('1')])
    await engine.commit([record(step + 1, writes, step + 1)], CHAIN)
    let isMerged = false
    const merged = engine.merge().finally(() => {
      isMerged = true
    })
    const turns = async () => {
      for (let turn = 0; !isMerged; turn++) {
        if (turn === step) expect(engine.at().scan(bytes('1'))[Symbol.iterator]().next().done).toBe(false)
        await nextTurn()
      }
    }
    await Promise.all([merged, turns()])
  }
  await engine.close()
  const again = openStateEngineReader({ path: folder.path })
  const found = [...again.at().scan(new Uint8Array(0))].map(({ key }) => Buffer.from(key).toString())
  const expected = Array.from({ length: STEPS * KEYS }, (_, at) => `${at % KEYS} ${Math.floor(at / KEYS)}`)
  expect(found.join()).toBe(expected.toSorted().join())
  expect((await again.check()).problems).toEqual([])
  await again.close()
})
