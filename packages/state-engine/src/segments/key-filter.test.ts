import { Buffer } from 'node:buffer'
import { createRandom } from '@ledger-state/testing/random'
import { expect, it } from 'vitest'
import { KeyHash } from '../memtable/key-hash.ts'
import { encodeFilter, KeyFilter, KeyProbe } from './key-filter.ts'

const hash = new KeyHash(Buffer.from('a secret'))

function filterOf(keys: readonly Uint8Array[]): KeyFilter {
  const hashes = new Int32Array(2 * keys.length)
  for (const [at, key] of keys.entries()) {
    hashes[2 * at] = hash.of(key, 0, key.length)
    hashes[2 * at + 1] = hash.second
  }
  const bytes = encodeFilter(hashes, keys.length)
  expect(bytes.length % 64).toBe(0)
  return new KeyFilter(new Int32Array(bytes.buffer))
}

it.each([0, 1, 50, 20_000])('a filter of %i keys has all of them, and few others', (count) => {
  const random = createRandom(count + 1)
  const keyOf = (at: number, kind: number): Uint8Array => Buffer.concat([Buffer.from(`${kind} ${at}`), random.bytes(8)])
  const keys = Array.from({ length: count }, (_, at) => keyOf(at, 0))
  const filter = filterOf(keys)
  const probe = new KeyProbe(hash)
  expect(keys.every((key) => filter.mayHave(probe.take(key)))).toBe(true)
  let passed = 0
  for (let at = 0; at < 20_000; at++) if (filter.mayHave(probe.take(keyOf(at, 1)))) passed++
  expect(passed).toBeLessThan(20_000 * 0.01)
})
