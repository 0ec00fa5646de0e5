import { openSource } from '@ledger-state/feed'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { listedBlocks, listedSource } from '../../testing/listed-source.ts'
import { createStoreBed, type StoreBed } from '../../testing/store-bed.ts'
import { verifySource } from './verify-source.js'

const chain = new SyntheticChain({ blocks: 40 })
const SNAPSHOT = chain.records.findLastIndex(({ info }, version) => version < 100 && info[9] === 0 && info[106] === 1)

let bed: StoreBed
beforeEach(() => {
  bed = createStoreBed()
})
afterEach(() => bed.close())

describe('verifySource', () => {
  it('counts the versions of a source, or the requested ones, and says whether they are proven', async () => {
    writeBackup(chain, bed.at('backup'))
    const open = (verify: boolean) => openSource(bed.at('backup'), { verify, thread: false })
    const writes = chain.expected.reduce((sum, one) => sum + one.writes.length, 0)
    expect(await verifySource(await open(true))).toMatchObject({
      firstVersion: 0n,
      latestVersion: chain.latestVersion,
      versions: chain.expected.length,
      writes,
      isProven: true,
    })
    expect(await verifySource(await open(false), { from: 60n, to: 90n })).toMatchObject({
      firstVersion: 60n,
      latestVersion: 90n,
      versions: 31,
      isProven: false,
    })
  })

  it('reads the state that a source begins with', async () => {
    const snapshot = writeBackup(chain, bed.at('backup'), { snapshot: { version: SNAPSHOT, chunk: 15 } })
    expect(await verifySource(await openSource(snapshot, { thread: false }))).toMatchObject({
      entries: chain.stateLeaves(SNAPSHOT).length,
      versions: 0,
      firstVersion: undefined,
      isProven: true,
    })
  })

  it('refuses a gap, and closes the source', async () => {
    const records = listedBlocks([3, 3]).filter(({ version }) => version !== 4n)
    let isClosed = false
    const source = {
      ...listedSource(records),
      async close() {
        isClosed = true
      },
    }
    await expect(verifySource(source)).rejects.toMatchObject({
      code: 'version_gap',
      message: expect.stringMatching(/expected version 4 after version 3; found version 5$/),
    })
    expect(isClosed).toBe(true)
  })

  it('stops between versions', async () => {
    const stop = new AbortController()
    const onVersion = (version: bigint) => version === 4n && stop.abort()
    const { versions } = await verifySource(listedSource(listedBlocks([10]), { onVersion }), { signal: stop.signal })
    expect(versions).toBe(5)
  })
})
