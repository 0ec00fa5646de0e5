import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { testSeed } from '@ledger-state/testing/random'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { expect, it } from 'vitest'

const RUN = fileURLToPath(new URL('../../testing/stream-model-run.ts', import.meta.url))
const ROUNDS = 6

it(`streams of readers and their threads over a store have the entries of a model (TEST_SEED=${testSeed()})`, async () => {
  const words = [...SOURCE_OPTIONS, RUN, `${testSeed()}`, `${scaledRounds(ROUNDS)}`]
  const { stdout } = await promisify(execFile)(process.execPath, words)
  expect(stdout.trim().split(',')).toEqual(expect.arrayContaining(['id', 'message']))
})
