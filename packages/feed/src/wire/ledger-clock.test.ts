import { Buffer } from 'node:buffer'
import type { Write } from '@ledger-state/core'
import { describe, expect, it } from 'vitest'
import { BLOCK_RESOURCE_KEY, CHAIN_ID_KEY, CONFIGURATION_KEY, TIMESTAMP_KEY } from './framework-keys.js'
import { LedgerClock } from './ledger-clock.js'

const u64 = (value: bigint) => {
  const bytes = Buffer.alloc(16)
  bytes.writeBigUInt64LE(value)
  return bytes
}
const height = (value: bigint): Write => [BLOCK_RESOURCE_KEY, u64(value)]
const time = (value: bigint): Write => [TIMESTAMP_KEY, u64(value)]
const epoch = (value: bigint): Write => [CONFIGURATION_KEY, u64(value)]

/** Block metadata as in transactions: id, epoch, round, proposer, votes, failed proposers, time. */
function metadata(tag: number, epochNumber: bigint, timestamp: bigint): Buffer {
  const variant = tag === 5 ? [Buffer.of(1)] : []
  const votes = Buffer.of(2, 9, 9, 1, 4, 0, 0, 0)
  const parts = [Buffer.alloc(32, 1), u64(epochNumber).subarray(0, 8), Buffer.alloc(8), Buffer.alloc(32, 2), votes]
  return Buffer.concat([Buffer.of(tag), ...variant, ...parts, u64(timestamp).subarray(0, 8)])
}

describe('LedgerClock', () => {
  it('begins a block if a version writes the block resource, with the epoch before and the newest time', () => {
    const clock = new LedgerClock()
    expect(clock.advance(0n, [height(0n), epoch(1n), [CHAIN_ID_KEY, Buffer.of(4)]])).toEqual({
      height: 0n,
      epoch: 0n,
      timestampUsec: 0n,
    })
    expect(clock.advance(1n, [height(1n), time(500n)])).toEqual({ height: 1n, epoch: 1n, timestampUsec: 500n })
    expect(clock.advance(2n, [[Buffer.of(1), Buffer.of(2)]])).toBeUndefined()
    // The block that ends an epoch belongs to it. A block without a proposer does not change the time.
    expect(clock.advance(3n, [epoch(2n), height(2n)])).toEqual({ height: 2n, epoch: 1n, timestampUsec: 500n })
    expect(clock.advance(4n, [height(3n), time(600n)])).toEqual({ height: 3n, epoch: 2n, timestampUsec: 600n })
    expect(clock.state.chainId).toBe(4)
  })

  it('resumes from the state of a store, and does not begin its block again', async () => {
    const state = new Map([height(7n), epoch(3n), time(9n)].map(([key, value]) => [key, value!]))
    const clock = await LedgerClock.at((key) => [...state].find(([other]) => Buffer.compare(other, key) === 0)?.[1])
    expect(clock.advance(50n, [height(7n)])).toBeUndefined()
    expect(clock.advance(51n, [height(8n)])).toEqual({ height: 8n, epoch: 3n, timestampUsec: 9n })
  })

  it.each([2, 5])('reads block metadata of tag %i if the state was never read', (tag) => {
    const clock = new LedgerClock()
    expect(clock.advance(9n, [height(4n)], metadata(tag, 33n, 700n))).toEqual({
      height: 4n,
      epoch: 33n,
      timestampUsec: 700n,
    })
    expect(new LedgerClock().advance(9n, [height(4n)], Buffer.of(0, 1, 2))).toMatchObject({
      epoch: 0n,
      timestampUsec: 0n,
    })
  })

  it('ignores values that are too short', () => {
    const clock = new LedgerClock()
    expect(
      clock.advance(9n, [
        [BLOCK_RESOURCE_KEY, Buffer.of(1)],
        [CHAIN_ID_KEY, Buffer.alloc(0)],
      ]),
    ).toBeUndefined()
    expect(clock.state.chainId).toBeUndefined()
  })
})
