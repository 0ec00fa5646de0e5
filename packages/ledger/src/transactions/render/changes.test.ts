import { atOnce, ByteWriter, parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { LedgerHasher } from '@ledger-state/proof'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { beforeAll, describe, expect, it } from 'vitest'
import { writesOfGenesis } from '../../../testing/genesis-writes.js'
import { ModuleCache } from '../../caches/module-cache.js'
import { ModuleInterfaces } from '../../caches/module-interfaces.js'
import { CachedTypeResolver } from '../../types/type-resolver.js'
import { changesToJson } from './changes.js'
import type { RenderContext } from './render-context.js'

const FORUM = '0x1::voting::VotingForum<0x1::governance_proposal::GovernanceProposal>'
const U64_SEVEN = new ByteWriter().u64(7n).toBytes()

interface Item {
  readonly handle: string
  readonly key: string
  readonly data: unknown
  readonly type: string
}

/** A write set of writes and deletions of items of tables. */
function writeSetOf(items: readonly (readonly [handle: Uint8Array, key: Uint8Array, value: Uint8Array | null])[]) {
  const writer = new ByteWriter().u8(0).uleb128(items.length)
  for (const [handle, key, value] of items) {
    writer.u8(1).bytes(handle).byteString(key)
    if (value) writer.u8(1).byteString(value)
    else writer.u8(2)
  }
  return writer.toBytes()
}

// This needs the shared folder.
describe.runIf(hasSharedData)('changes of items of tables', () => {
  let context: RenderContext
  let proposals: Uint8Array
  const unknown = parseAddress('0x77')

  const shown = (...items: Parameters<typeof writeSetOf>[0]) =>
    JSON.parse(atOnce(changesToJson(context, writeSetOf(items)))) as readonly Item[]

  beforeAll(async () => {
    const engine = createMemoryEngine()
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: 0n, block, writes: writesOfGenesis('data/genesis/devnet.genesis.blob') }], {
      chainId: 4,
    })
    const modules = new ModuleCache()
    const view = engine.at(0n)
    const types = new CachedTypeResolver(modules)
    context = { view, types, modules, interfaces: new ModuleInterfaces(), hasher: new LedgerHasher() }
    // The first field of the forum is the table of its proposals, by u64.
    proposals = view.get(resourceKey(parseAddress('0x1'), parseStructTag(FORUM)))!.subarray(0, 32)
  })

  it('are decoded if the types of the table are known, and have null otherwise, twice', () => {
    for (let times = 0; times < 2; times++) {
      const [first, second] = shown([proposals, U64_SEVEN, null], [unknown, U64_SEVEN, null])
      const [known, other] = first!.data === null ? [second, first] : [first, second]
      expect(known).toMatchObject({ data: { key: '7', key_type: 'u64' }, type: 'delete_table_item' })
      expect(other).toMatchObject({ data: null, type: 'delete_table_item' })
    }
  })

  it('have null if the types are known, and the bytes do not fit them', () => {
    for (let times = 0; times < 2; times++) {
      for (const item of [
        [proposals, U64_SEVEN, Uint8Array.of(1)],
        [proposals, U64_SEVEN.subarray(1), null],
        [unknown, U64_SEVEN, Uint8Array.of(1)],
      ] as const)
        expect(shown(item)).toMatchObject([{ data: null }])
    }
  })
})
