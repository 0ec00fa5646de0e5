import { testSeed } from '@ledger-state/testing/random'
import { it } from 'vitest'
import { runBesideModel } from '../../testing/histories/beside-model.ts'

const HISTORIES = 20
const SEED = testSeed()

it(`the engine answers as the model does in ${HISTORIES} random histories (TEST_SEED=${SEED})`, async () => {
  await runBesideModel({ count: HISTORIES, seed: SEED })
})
