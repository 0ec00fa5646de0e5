import { createMemoryEngine } from '@ledger-state/engine'
import { expect, it } from 'vitest'
import type { ChangePage, ChangeSource } from './change-source.js'
import { createEngineChanges } from './engine-changes.js'
import { SharedChanges } from './shared-changes.js'

const LATEST = 3_000n

async function longLedger() {
  const engine = createMemoryEngine()
  const versions = Array.from({ length: Number(LATEST) + 1 }, (_, at) => ({
    version: BigInt(at),
    block: { height: BigInt(at), epoch: 0n, timestampUsec: 0n },
    writes: [],
  }))
  await engine.commit(versions, { chainId: 4n })
  return engine
}

/** A source whose reads wait until they are let go. */
function gated(source: ChangeSource) {
  const waiting: (() => void)[] = []
  let opened = 0
  const gate = {
    openCursors: 0,
    get opened() {
      return opened
    },
    letGo: () => {
      for (const go of waiting.splice(0)) go()
    },
    open() {
      const cursor = source.open()
      opened++
      gate.openCursors++
      return {
        read: (first: bigint, last: bigint): Promise<ChangePage> =>
          new Promise((resolve, reject) => {
            waiting.push(() => cursor.read(first, last).then(resolve, reject))
          }),
        close() {
          gate.openCursors--
          cursor.close()
        },
      }
    },
  }
  return gate
}

const turns = async (count: number) => {
  for (let left = count; left > 0; left--) await new Promise((resolve) => setImmediate(resolve))
}

/** Four streams take all places. A fifth waits for one, is told of a truncation, and reads again. */
async function fifthStreamWaits() {
  const source = gated(createEngineChanges(await longLedger()))
  const changes = new SharedChanges(source)
  const readers = Array.from({ length: 4 }, () => changes.open())
  const reads = readers.map((reader) => reader.read(1n, LATEST, 0))
  const late = changes.open()
  const lateReads = [late.read(1n, LATEST, 0), late.read(2n, LATEST, 0)]
  await turns(2)
  return { source, changes, readers, reads, late, lateReads }
}

it('a stream that reads again before its last read has ended takes one place, and gives it back', async () => {
  const { source, changes, readers, reads, late, lateReads } = await fifthStreamWaits()
  expect(source.opened).toBe(4)
  while (source.opened < 5) {
    source.letGo()
    await Promise.all(reads)
    for (const reader of readers) reader.close()
    await turns(2)
  }
  source.letGo()
  expect((await lateReads[0]!)[0]!.version).toBe(1n)
  await turns(2)
  source.letGo()
  expect((await lateReads[1]!)[0]!.version).toBe(2n)
  late.close()
  expect(source.openCursors).toBe(0)
  // All places are free.
  const next = Array.from({ length: 4 }, () => changes.open())
  const nextReads = next.map((reader) => reader.read(1n, LATEST, 0))
  await turns(2)
  expect(source.openCursors).toBe(4)
  source.letGo()
  await Promise.all(nextReads)
  for (const reader of next) reader.close()
  expect(source.openCursors).toBe(0)
})

it('a stream that ends while a read waits for a place takes none', async () => {
  const { source, readers, reads, late, lateReads } = await fifthStreamWaits()
  late.close()
  source.letGo()
  await Promise.all(reads)
  for (const reader of readers) reader.close()
  expect(await Promise.all(lateReads)).toEqual([[], []])
  expect([source.opened, source.openCursors]).toEqual([4, 0])
})

it('streams that read on without a pause give their places to others in turn', async () => {
  const changes = new SharedChanges(createEngineChanges(await longLedger()), 0)
  const reads = Array.from({ length: 10 }, () => 0)
  let isOver = false
  const readOn = async (at: number): Promise<void> => {
    const reader = changes.open()
    while (!isOver) {
      expect(await reader.read(1n, LATEST, 0)).not.toEqual([])
      reads[at]!++
      isOver = reads.every((count) => count >= 3)
      await turns(1)
    }
    reader.close()
  }
  await Promise.all(reads.map((_, at) => readOn(at)))
  expect(Math.min(...reads)).toBeGreaterThanOrEqual(3)
})
