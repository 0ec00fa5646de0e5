import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { testSeed } from '@ledger-state/testing/random'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { expect, it } from 'vitest'
import { runBesideModel } from '../../testing/histories/beside-model.ts'

const HISTORIES = scaledRounds(1_500)
const SEED = testSeed()
const LONG = { timeout: 1_800_000 }

it(`the engine answers as the model does in ${HISTORIES} random histories (TEST_SEED=${SEED})`, LONG, async () => {
  await runBesideModel({ count: HISTORIES, seed: SEED })
})

/** Values of the first versions of a public network, one of each length. */
function realValues(): Uint8Array[] {
  const feed = gunzipSync(readFileSync(sharedPath('data/testnet-0-3.feed.ndjson.gz'))).toString()
  const values = [...feed.matchAll(/\["0x[0-9a-f]*","0x([0-9a-f]*)"\]/g)].map(([, hex]) => Buffer.from(hex!, 'hex'))
  return [...new Map(values.map((value) => [value.length, value])).values()]
}

it.skipIf(!hasSharedData)(
  `the engine answers as the model does with real values (TEST_SEED=${SEED})`,
  LONG,
  async () => {
    const values = realValues()
    expect(values.length).toBeGreaterThan(50)
    await runBesideModel({ count: scaledRounds(150), seed: SEED, values })
  },
)
