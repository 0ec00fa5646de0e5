import { ByteReader, parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { expect, it, vi } from 'vitest'
import { ALICE, ASSET, BOB, objectWrite, SECOND_STORE, storeMember } from '../../../testing/asset-ledger.ts'
import { changesOfHolders } from './write-filters.js'

const TYPES = ['u8', 'u16', 'u32', 'u64', 'u128', 'u256', 'bool', 'address']
const OTHERS = TYPES.flatMap((a) =>
  TYPES.map((b) => [`0xcafe::a::A<${a}, ${b}>`, (writer) => writer.u8(1)] as const),
) as Parameters<typeof objectWrite>[3]

/** The changes of the holders of an asset by two writes of one object, and the members of groups that were read. */
async function changesOf(metadata: string, writes: readonly ReturnType<typeof objectWrite>[]) {
  const engine = createMemoryEngine()
  for (const [at, write] of writes.entries()) {
    const block = { height: BigInt(at), epoch: 0n, timestampUsec: 0n }
    await engine.commit([{ version: BigInt(at), block, writes: [write] }], { chainId: 4n })
  }
  const ledger = createLedger(engine)
  const [key, value] = writes[1]!
  const filter = changesOfHolders({ kind: 'fungibleAsset', metadata: parseAddress(metadata) })
  expect(filter.selects(key)).toBe(true)
  const members = vi.spyOn(ByteReader.prototype, 'skip')
  const changes = [...filter.changesOf(ledger.at(1n), ledger.at(0n), { key, value })]
  const read = members.mock.calls.length
  members.mockRestore()
  return { changes, read }
}

it('a group without the asset is not read, and a pause may follow each group that is', async () => {
  const before = objectWrite(SECOND_STORE, ALICE, true, [storeMember(5n), ...OTHERS])
  const after = objectWrite(SECOND_STORE, BOB, true, [storeMember(7n), ...OTHERS])
  const held = await changesOf(ASSET, [before, after])
  expect(held.changes[0]).toBeUndefined()
  expect(held.changes.slice(1).map((json) => (JSON.parse(json!) as { change: string }).change)).toEqual(['-5', '7'])
  expect(held.read).toBeGreaterThan(2 * OTHERS.length)
  expect(await changesOf('0xfa2', [before, after])).toEqual({ changes: [undefined], read: 0 })
})
