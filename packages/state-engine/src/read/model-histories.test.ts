import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { expect, it } from 'vitest'
import { runHistories } from '../../testing/engine-histories.ts'
import { openStateEngine } from '../open-state-engine.js'
import { createMemoryEngine } from '../port/memory-engine.js'
import { setFailurePointHandler } from '../write/failure-points.js'

const HISTORIES = Number(process.env.ENGINE_HISTORIES ?? (process.env.CI ? 10_000 : 400))
/** In memory where there is such a file system: what is tested is not the disk. */
const ROOT = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

async function expectAlike(values: readonly Uint8Array[], count: number): Promise<void> {
  let path = ''
  await runHistories(
    () => {
      path = mkdtempSync(join(ROOT, 'engine-history-'))
      return {
        createModel: createMemoryEngine,
        open: () => openStateEngine({ path, durability: 'none' }),
        setFailurePointHandler,
        values,
      }
    },
    () => rmSync(path, { recursive: true }),
    count,
  )
}

it(`answers as the model does in ${HISTORIES} random histories`, { timeout: 600_000 }, async () => {
  await expectAlike([], HISTORIES)
})

/** Values of the first versions of a public network, one of each length. */
function realValues(): Uint8Array[] {
  const feed = gunzipSync(readFileSync(sharedPath('data/testnet-0-3.feed.ndjson.gz'))).toString()
  const values = [...feed.matchAll(/\["0x[0-9a-f]*","0x([0-9a-f]*)"\]/g)].map(([, hex]) => Buffer.from(hex!, 'hex'))
  return [...new Map(values.map((value) => [value.length, value])).values()]
}

it.skipIf(!hasSharedData)('answers as the model does with values of a real ledger', { timeout: 600_000 }, async () => {
  const values = realValues()
  expect(values.length).toBeGreaterThan(50)
  await expectAlike(values, HISTORIES / 10)
})
