import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { testSeed } from '@ledger-state/testing/random'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { expect, it } from 'vitest'

const script = fileURLToPath(new URL('../testing/hostile-requests.ts', import.meta.url))

// Heap of the process; the caches of a ledger take at most 41 MiB of it.
const HEAP_MEGABYTES = 128

// The process always runs the code for Node, so one of the two runs suffices.
it.runIf(process.env.TESTED_RUNTIME === 'node').each([
  ['maps', 4_700],
  ['batches', 6],
  ['unknown', 1_800],
])(
  'hostile requests do not exhaust a heap of 128 MB: %s, %i of them',
  (kind, count) => {
    const seed = testSeed()
    const args = [
      `--max-old-space-size=${HEAP_MEGABYTES}`,
      ...SOURCE_OPTIONS,
      script,
      kind,
      String(count),
      String(seed),
    ]
    const { status, signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect({ status, signal }, `seed ${seed}: ${stderr.slice(-2_000)}`).toEqual({ status: 0, signal: null })
  },
  600_000,
)
