import type { Write } from '@ledger-state/core'
import { createMemoryEngine, engineToAsync } from '@ledger-state/engine'
import { assembleModule, type SignatureToken } from '@ledger-state/move-module'
import { moduleKey } from '@ledger-state/type-tag'
import { expect, it } from 'vitest'
import { call, PROGRAM } from '../../testing/view-ledger.js'
import { createAsyncLedger } from '../async/async-ledger.js'
import { createLedger } from '../state/create-ledger.js'
import { mostResults } from './most-results.js'

const U64: SignatureToken = { kind: 'u64' }

function moduleWith(name: string, results: number): Uint8Array {
  const code = [...Array.from({ length: results }, () => ['ld_u64', 1] as const), ['ret'] as const]
  return assembleModule({ name: 'main', functions: [{ name, results: Array(results).fill(U64), code }] })
}

it('the most results of a view function are those of any of its modules in the range', async () => {
  const engine = createMemoryEngine()
  const modules = [
    undefined,
    moduleWith('pair', 3),
    undefined,
    moduleWith('pair', 1),
    Uint8Array.of(1, 2, 3),
    moduleWith('other', 9),
    moduleWith('pair', 2),
    null,
    undefined,
  ]
  for (const [at, module] of modules.entries()) {
    const version = BigInt(at)
    const writes: Write[] = module === undefined ? [] : [[moduleKey(PROGRAM, 'main'), module]]
    await engine.commit([{ version, block: { height: version, epoch: 0n, timestampUsec: version }, writes }], {
      chainId: 4,
    })
  }
  // The first and the last version of a range.
  const ranges = [
    [0n, 8n, 3],
    [2n, 8n, 3],
    [3n, 8n, 2],
    [3n, 5n, 1],
    [4n, 5n, 0],
    [7n, 8n, 0],
    [0n, 0n, 0],
  ] as const
  const ledger = createLedger(engine)
  const asyncLedger = createAsyncLedger(engineToAsync(engine))
  for (const [from, to, most] of ranges) {
    expect([from, to, mostResults(ledger.at(to), call('pair'), from)]).toEqual([from, to, most])
    expect(await asyncLedger.read((one) => mostResults(one.at(to), call('pair'), from))).toBe(most)
  }
})
