import { Buffer } from 'node:buffer'
import { join } from 'node:path'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterEach, expect, it, vi } from 'vitest'
import { CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, openStateEngineReader, type StateEngine } from '../open-state-engine.js'

const folder = temporaryFolder()
const KEY_LENGTHS = isSlowRun
  ? [1, 31, 126, 127, 128, 1_978, 8_191, 16_382, 16_383, 16_384, 65_535, 65_536]
  : [1, 127, 128, 8_191, 16_383, 65_536]
const VALUE_LENGTHS = [0, 1, 62, 63, 64, 126, 127, 128, 8_191, 8_192, 8_193, 65_536, 2 ** 20, 2 ** 21 + 1]

afterEach(() => vi.unstubAllEnvs())

/** A key. Others of the same length differ only in the last bytes. */
function keyOf(length: number, number: number): Uint8Array {
  const key = Buffer.alloc(length, 7)
  key[length - 1] = number
  if (length > 1) key[length - 2] = number >> 8
  return key
}

function valueOfLength(length: number, version: number): Uint8Array {
  const value = Buffer.alloc(length, length & 0xff)
  // Values that differ a little: they become patches.
  for (let at = version; at < length; at += 1_000_003) value[at] = version
  return value
}

/** Each length of a key with each of a value, but few with the longest. */
const WRITES = KEY_LENGTHS.flatMap((keyLength, place) =>
  VALUE_LENGTHS.filter((length) => length < 2 ** 20 || place === 0).map((valueLength, number) => ({
    key: keyOf(keyLength, number),
    valueLength,
  })),
)

function expectRight(engine: Pick<StateEngine, 'at' | 'history'>, versions: readonly number[]): void {
  for (const version of versions) {
    const view = engine.at(BigInt(version))
    for (const { key, valueLength } of WRITES) {
      const value = view.get(key)
      const isRight = value && Buffer.compare(value, valueOfLength(valueLength, version)) === 0
      if (!isRight) expect({ key: key.length, value: value?.length }).toBe({ key: key.length, value: valueLength })
    }
  }
}

it.each([
  ['mapped', {}],
  ['with a cache', { LEDGER_STATE_UNMAPPED: '1' }],
  ['in files of 100 kB', { LEDGER_STATE_SEGMENT_BYTES: '100000' }],
])('keys and values of every length come back, %s', { timeout: 120_000 }, async (_way, variables) => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  const path = join(folder.path, 'store')
  const engine = openStateEngine({ path, durability: 'none', memtableBytes: 0 })
  for (const version of [0, 1, 2]) {
    const writes = WRITES.map(({ key, valueLength }) => [key, valueOfLength(valueLength, version)] as const)
    await engine.commit([record(version, [...writes], version)], CHAIN)
  }
  expectRight(engine, [0, 1, 2])
  const [newest] = engine.history(WRITES.at(-1)!.key)
  expect(newest?.version).toBe(2n)
  // One file of all versions, below the window.
  await engine.prune(1n)
  expectRight(engine, [2])
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
  const reader = openStateEngineReader({ path })
  expectRight(reader, [2])
  expect([...reader.at().scan(new Uint8Array(0))].length).toBe(WRITES.length)
  await reader.close()
})
