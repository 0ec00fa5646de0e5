import { Buffer } from 'node:buffer'
import { fileURLToPath } from 'node:url'
import { computeStateRoot } from '@ledger-state/feed'
import { STATE_ROOT_KEY } from '@ledger-state/records'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { runToEnd } from '@ledger-state/testing/run-to-end'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createStoreBed } from '../../testing/store-bed.ts'

const PROGRAM = fileURLToPath(new URL('../../testing/audit-process.ts', import.meta.url))
const KEYS = 60_000
const VERSIONS = 6_000
const WRITES = 200
/** Memory of a process that audits, with the heap of Node.js. */
const MOST_BYTES = 300e6
const bed = createStoreBed()
afterAll(() => bed.close())

/** A store whose values are larger than the memory of the process. */
beforeAll(async () => {
  const engine = await bed.open('store', { memtableBytes: 2 ** 24 })
  const random = createRandom(testSeed())
  const keyAt = (at: number) => Buffer.from(`key ${at}`)
  const state = new Map<number, Buffer>()
  const versionAt = (version: number) => {
    const block = { height: BigInt(version), epoch: 0n, timestampUsec: BigInt(version) }
    const keys = new Set(
      Array.from({ length: WRITES }, (_, at) =>
        version * WRITES + at < KEYS ? version * WRITES + at : random.below(KEYS),
      ),
    )
    for (const key of keys) state.set(key, Buffer.from(random.bytes(400)))
    return { version: BigInt(version), block, writes: [...keys].map((key) => [keyAt(key), state.get(key)!] as const) }
  }
  for (let version = 0; version < VERSIONS; version += 20) {
    const batch = Array.from({ length: 20 }, (_, at) => versionAt(version + at))
    await engine.commit(batch, { chainId: 1 })
  }
  const entries = Array.from(state, ([key, value]) => ({ key: keyAt(key), value, version: 0n }))
  entries.sort((a, b) => Buffer.compare(a.key, b.key))
  const { root } = await computeStateRoot([entries], { spillFolder: bed.folder, threads: 0 })
  const block = { height: BigInt(VERSIONS), epoch: 0n, timestampUsec: BigInt(VERSIONS) }
  await engine.commit([{ version: BigInt(VERSIONS), block, writes: [[STATE_ROOT_KEY, root]] }], { chainId: 1 })
  await engine.merge()
  expect(engine.stats.fileBytes).toBeGreaterThan(MOST_BYTES)
  await engine.close()
}, 300_000)

it.runIf(process.platform === 'linux')(
  'takes a bounded amount of memory for a store that is larger',
  async () => {
    // Without a limit, V8 lets garbage grow with the memory of the machine: 310 to 440 MB were seen.
    const words = ['--max-old-space-size=128', ...SOURCE_OPTIONS, PROGRAM, bed.at('store'), '100000', String(2 ** 22)]
    const { status, stdout, stderr } = await runToEnd(process.execPath, words)
    expect(stderr).toBe('')
    expect(status).toBe(0)
    const report = JSON.parse(stdout) as { readonly mostBytes: number }
    expect(report).toMatchObject({ version: VERSIONS, findingCount: 0, compared: 1 })
    expect(report.mostBytes).toBeLessThan(MOST_BYTES)
  },
  300_000,
)
