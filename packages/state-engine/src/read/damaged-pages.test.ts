import { closeSync, cpSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isLedgerStateError } from '@ledger-state/core'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { sampleCases } from '@ledger-state/testing/sample-cases'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { scaledRounds } from '@ledger-state/testing/test-scale'
import { beforeAll, describe, expect, it } from 'vitest'
import { PAGE_BYTES } from '../../testing/page-damage.ts'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { folderForAll } from '../../testing/temporary-folder.ts'
import { STORE_FILE } from '../lmdb/lmdb-store.js'
import { type LmdbEngineReader, openStateEngine, openStateEngineReader } from '../open-state-engine.js'

const SEED = testSeed()
const SECTOR = 512
const KEYS = 700
const VERSIONS = 40
const folder = folderForAll()
/** Keys in the order of their bytes, with long common beginnings, as addresses have. */
const keys = Array.from({ length: KEYS }, (_, at) =>
  bytes(`account ${String(at >> 3).padStart(20, '0')} resource ${at & 7}`),
)
const ABSENT = [
  bytes('a'),
  bytes('account 0'),
  ...keys.filter((_, at) => at % 50 === 0).map((key) => bytes(`${Buffer.from(key)}?`)),
  bytes('z'),
]

/** Everything that a store answers. */
function* answers(engine: LmdbEngineReader): Generator<[string, () => unknown]> {
  yield ['the ledger', () => engine.ledger]
  yield ['the base', () => engine.base]
  yield ['the mark', () => engine.mark]
  for (const version of [3n, BigInt(VERSIONS - 1)]) {
    for (const key of [...keys, ...ABSENT])
      yield [`${Buffer.from(key)} at ${version}`, () => engine.at(version).get(key)]
    for (const key of keys.slice(0, 40)) yield [`has ${Buffer.from(key)}`, () => engine.at(version).has(key)]
    for (const prefix of ['', 'account 00000000000000000017', 'account 0000000000000000004', 'b']) {
      yield [
        `scan ${prefix} at ${version}`,
        () => [...engine.at(version).scan(bytes(prefix))].map((one) => [one.key, one.value]),
      ]
    }
    for (const at of [0, 100, 350, 699]) {
      const start = keys[at]!
      yield [
        `scan from ${at}`,
        () => [...engine.at(version).scan(new Uint8Array(0), { start, limit: 5 })].map(({ key }) => key),
      ]
    }
  }
  for (const key of keys.filter((_, at) => at % 20 === 0)) {
    yield [
      `history of ${Buffer.from(key)}`,
      () => [...engine.history(key)].map(({ version, value }) => [version, value]),
    ]
  }
  for (let version = 0n; version < BigInt(VERSIONS); version++)
    yield [`block ${version}`, () => engine.blockAt(version)]
}

/** Runs in the process of the test: the damage must lead to an error, not to a signal. */
describe(`an engine that verifies its reads, with a zeroed sector in one of its files (TEST_SEED=${SEED})`, () => {
  const source = () => join(folder.path, 'sound')

  beforeAll(async () => {
    const engine = openStateEngine({ path: source(), durability: 'none' })
    for (let version = 0; version < VERSIONS; version++) {
      const writes = keys
        .filter((_, at) => version === 0 || at % VERSIONS === version)
        .map((key, at) => [key, bytes(`${version} ${at}`.padEnd(20 + (at % 30)))] as const)
      await engine.commit([record(version, writes, version)], { ...CHAIN, mark: bytes('mark') })
    }
    await engine.merge()
    await engine.close()
  })

  it('gives the answers of a sound store, or says that the store is damaged', { timeout: 600_000 }, async () => {
    const random = createRandom(SEED)
    const sound = openStateEngineReader({ path: source(), verifyReads: true })
    const right = new Map([...answers(sound)].map(([name, ask]) => [name, ask()]))
    await sound.close()
    const files = readdirSync(source()).filter((name) => name === STORE_FILE || /^segment-\d+$/.test(name))
    expect(files.length).toBeGreaterThan(1)
    const sectors = files.flatMap((name) => {
      // The check of an opening reads the meta pages.
      const first = name === STORE_FILE ? (2 * PAGE_BYTES) / SECTOR : 0
      const end = Math.ceil(statSync(join(source(), name)).size / SECTOR)
      return Array.from({ length: end - first }, (_, at) => ({ name, sector: first + at }))
    })
    const chosen = isSlowRun
      ? sampleCases(sectors, Math.min(sectors.length, scaledRounds(sectors.length)))
      : Array.from({ length: 12 }, () => random.pick(sectors))
    let refused = 0
    for (const { name: file, sector } of chosen) {
      const path = join(folder.path, `damaged-${sector}`)
      rmSync(path, { recursive: true, force: true })
      cpSync(source(), path, { recursive: true })
      zeroSector(join(path, file), sector)
      let reader: LmdbEngineReader
      try {
        reader = openStateEngineReader({ path, verifyReads: true })
      } catch (error) {
        expect(error).toMatchObject({ code: 'store_corrupt' })
        continue
      }
      // The second time, some absences are remembered.
      for (const [name, ask] of [...answers(reader), ...answers(reader)]) {
        try {
          expect(ask(), `sector ${sector} of ${file}: ${name}`).toEqual(right.get(name))
        } catch (error) {
          if (!isLedgerStateError(error, 'store_corrupt')) throw error
          refused++
        }
      }
      await reader.close()
      rmSync(path, { recursive: true })
    }
    expect(refused).toBeGreaterThan(0)
  })
})

function zeroSector(file: string, sector: number): void {
  const descriptor = openSync(file, 'r+')
  writeSync(descriptor, Buffer.alloc(SECTOR), 0, SECTOR, sector * SECTOR)
  closeSync(descriptor)
}
