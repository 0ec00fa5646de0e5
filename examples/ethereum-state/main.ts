import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Write } from '@ledger-state/core'
import { openStateEngine } from '@ledger-state/state-engine'

// The engine does not interpret keys. These sort by account, and the slots of an account follow it.
const ACCOUNT = 0x00
const SLOT = 0x01

function accountKey(address: Uint8Array): Uint8Array {
  return Buffer.concat([address, Uint8Array.of(ACCOUNT)])
}

function slotKey(address: Uint8Array, slot: bigint): Uint8Array {
  return Buffer.concat([address, Uint8Array.of(SLOT), word(slot)])
}

/** A u256 in 32 bytes, big-endian, so that keys sort as numbers do. */
function word(value: bigint): Uint8Array {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

function wordToBigint(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
}

const token = Buffer.from('dac17f958d2ee523a2206206994597c13d831ec7', 'hex')
const engine = openStateEngine({ path: mkdtempSync(join(tmpdir(), 'ethereum-')) })

/** Commits one version for each block. A slot that becomes zero is deleted, as in Ethereum's own state. */
async function commitBlock(height: bigint, slots: readonly (readonly [slot: bigint, value: bigint])[]): Promise<void> {
  const nonce = word(height)
  const writes: Write[] = [[accountKey(token), nonce]]
  for (const [slot, value] of slots) writes.push([slotKey(token, slot), value === 0n ? null : word(value)])
  const block = { height, epoch: height / 32n, timestampUsec: height * 12_000_000n }
  await engine.commit([{ version: height, block, writes }], { chainId: 1 })
}

await commitBlock(0n, [
  [0n, 1_000n],
  [7n, 250n],
])
await commitBlock(1n, [[7n, 0n]])
await commitBlock(2n, [
  [0n, 900n],
  [9n, 100n],
])

// eth_getStorageAt: the value of a slot at a block, 0 if the slot was never written.
const storageAt = (slot: bigint, block: bigint) => {
  const value = engine.at(block).get(slotKey(token, slot))
  return value ? wordToBigint(value) : 0n
}
console.log(`slot 7: ${storageAt(7n, 0n)} at block 0, ${storageAt(7n, 2n)} at block 2`)

// debug_storageRangeAt: all slots of an account at a block, in their order.
const slots = Buffer.concat([token, Uint8Array.of(SLOT)])
for (const { key, value, version } of engine.at(2n).scan(slots)) {
  console.log(`slot ${wordToBigint(key.subarray(slots.length))} = ${wordToBigint(value)}, written by block ${version}`)
}
await engine.close()
