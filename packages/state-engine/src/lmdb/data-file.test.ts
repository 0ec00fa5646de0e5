import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { open } from 'lmdb'
import { describe, expect, it } from 'vitest'
import { damagedStores, openElsewhere } from '../../testing/damaged-stores.ts'
import { KNOWN_CHAIN, knownVersion } from '../../testing/known-ledger.ts'
import { changeByte } from '../../testing/page-damage.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine } from '../open-state-engine.js'
import { expectSoundFile } from './data-file.js'
import { FREE_LIST_AT } from './data-pages.js'
import { STORE_FILE } from './lmdb-store.js'

const SEED = testSeed()
const ROUNDS = 60
const folder = temporaryFolder()
/** Stores whose last pages are in use: after a prune they could be free, and their loss no damage. */
const stores = damagedStores({ isPruned: false })
/** Stores whose first meta page is the older one. LMDB reads flags of the environment there anyway. */
const prunedStores = damagedStores({ isPruned: true })

describe('a data file that is cut short', () => {
  it('is refused with its length and the length that it should have, and no signal', () => {
    const { size } = statSync(stores.file)
    // Lengths like that of a file cut by `head -c`, of an empty file, nearly the whole, and less than the meta pages.
    const lengths = [size - 5_000, 0, Math.floor(size * 0.99), size - 1, size >> 1, 8_192, 8_191, 4_096, 100]
    const paths = lengths.map((length) => stores.copy((file) => truncateSync(file, length)))
    const errors = openElsewhere(paths).map(({ error }) => error)
    for (const [at, length] of lengths.entries()) {
      // Without both meta pages the length of the rest is unknown.
      const needed = length < 4_096 + 160 ? 8_192 : size
      const file = join(paths[at]!, STORE_FILE)
      const message = `the store is damaged: the file is cut short: ${length} of ${needed} bytes (${file})`
      expect(errors[at]).toBe(`store_corrupt: ${message}`)
    }
  })
})

describe('a data file whose first pages are damaged', () => {
  it.runIf(isSlowRun)('is refused with the number of the page', () => {
    const paths = [24, 4_096 + 24].map((offset) => stores.copy((file) => changeByte(file, offset, 1)))
    const [first, second] = openElsewhere(paths)
    expect(first!.error).toMatch(/^store_format: .*meta page 0 is of another format, or damaged/)
    expect(second!.error).toMatch(/^store_format: .*meta page 1 is of another format, or damaged/)
  })

  it('ends no process by a signal, whichever flag of the environment is wrong in either meta page', () => {
    const flags = [FREE_LIST_AT + 4, FREE_LIST_AT + 5].flatMap((offset) => [offset, offset + 4_096])
    const paths = flags.flatMap((offset) => {
      return Array.from({ length: 8 }, (_, bit) => prunedStores.copy((file) => changeByte(file, offset, 1 << bit)))
    })
    const errors = openElsewhere(paths, 'use').flatMap(({ error }) => error ?? [])
    for (const error of errors) expect(error).toMatch(/^store_(corrupt|format): /)
    expect(errors.length).toBeGreaterThan(0)
  })
})

describe('a data file that is whole', () => {
  /** LMDB does not write pages at the end that a transaction took and freed again. */
  it.runIf(isSlowRun)(`is accepted although free pages at its end were never written (TEST_SEED=${SEED})`, async () => {
    const random = createRandom(SEED)
    const file = join(folder.path, 'short.mdb')
    const root = open({ path: file, noSubdir: true, encoding: 'binary', overlappingSync: false, pageSize: 4_096 })
    let shorter = 0
    for (let round = 0; round < ROUNDS; round++) {
      const keys = Array.from({ length: 30 + random.below(300) }, () => `key ${random.below(1e6)}`)
      root.transactionSync(() => {
        for (const key of keys) root.putSync(key, Buffer.from(random.bytes(random.below(10) === 0 ? 15_000 : 50)))
        for (const key of keys) if (random.below(10) > 0) root.removeSync(key)
      })
      const { lastPageNumber, pageSize } = root.getStats() as { lastPageNumber: number; pageSize: number }
      if (statSync(file).size < (lastPageNumber + 1) * pageSize) shorter++
      expectSoundFile(file, true)
    }
    expect(shorter).toBeGreaterThan(0)
    await root.close()
  })

  it.runIf(isSlowRun)('is accepted at every moment by readers that open it while its writer grows it', async () => {
    const engine = openStateEngine({ path: folder.path, durability: 'none' })
    await engine.commit([knownVersion(0n)], KNOWN_CHAIN)
    const read = `
      const { openStateEngineReader } = await import(${JSON.stringify(new URL('../index.ts', import.meta.url).href)})
      let opened = 0
      let latest = 0n
      while (latest < 400n) {
        const reader = openStateEngineReader({ path: ${JSON.stringify(folder.path)} })
        latest = reader.ledger.latestVersion
        await reader.close()
        if (++opened === 1) console.log('open')
      }
      console.log(opened)`
    const child = spawn(process.execPath, [...SOURCE_OPTIONS, '--input-type=module', '-e', read], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [first] = (await once(child.stdout, 'data')) as [Buffer]
    expect(first.toString()).toMatch(/^open/)
    const closed = once(child, 'close')
    for (let version = 1n; version <= 400n; version++) {
      await engine.commit([knownVersion(version)], KNOWN_CHAIN)
      if (version % 40n === 0n) await engine.prune(60n)
    }
    expect(await closed).toEqual([0, null])
    await engine.close()
  })
})
