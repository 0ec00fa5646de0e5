import { CHECKPOINT_KEY, EPOCH_ENDING_PREFIX, type PendingWrite } from '@ledger-state/records'
import { describe, expect, it } from 'vitest'
import { toPending, withPending } from './pending-writes.js'

const CHECKPOINT = Buffer.alloc(1_000, 7)
const ofEpoch = (epoch: number, length = 1_800): PendingWrite => [
  Buffer.concat([EPOCH_ENDING_PREFIX, Buffer.of(epoch)]),
  Buffer.alloc(length, epoch),
]
const endings = (count: number) => Array.from({ length: count }, (_, epoch) => ofEpoch(epoch))

describe('the pending part of a mark', () => {
  it('are all epoch changes, and the checkpoint that needs them, if they fit', () => {
    const { pending, taken } = toPending([], endings(20), CHECKPOINT)
    expect(taken).toBe(20)
    expect(pending).toEqual([...endings(20), [CHECKPOINT_KEY, CHECKPOINT]])
  })

  it('are as many epoch changes as fit, in order, and no checkpoint that needs the others', () => {
    const { pending, taken } = toPending([], endings(40), CHECKPOINT)
    expect(taken).toBeGreaterThan(20)
    expect(taken).toBeLessThan(40)
    expect(pending).toEqual(endings(taken))
    const rest = endings(40).slice(taken)
    expect(toPending([], rest, CHECKPOINT).pending).toEqual([...rest, [CHECKPOINT_KEY, CHECKPOINT]])
  })

  it('is the checkpoint before, if the new one does not fit', () => {
    const before: PendingWrite = [CHECKPOINT_KEY, Buffer.alloc(900, 1)]
    expect(toPending([before], endings(60), CHECKPOINT).pending.at(-1)).toEqual(before)
    expect(toPending([before], endings(3), CHECKPOINT).pending.at(-1)).toEqual([CHECKPOINT_KEY, CHECKPOINT])
  })

  it('is written by the last of some versions, unless one of them writes it itself', () => {
    const [first, second] = endings(2) as [PendingWrite, PendingWrite]
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    const versions = [
      { version: 0n, block, writes: [first] },
      { version: 1n, block: undefined, writes: [] },
    ]
    expect(withPending(versions, [first, second])).toEqual([versions[0], { ...versions[1], writes: [second] }])
    expect(withPending(versions, [])).toBe(versions)
  })
})
