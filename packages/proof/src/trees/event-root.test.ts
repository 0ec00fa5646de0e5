import { atOnce, ByteReader, ByteWriter, bytesToHex, type Steps } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { parseStructTag, writeTypeTag } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LedgerHasher } from '../hashes/ledger-hasher.js'
import { rootByPath } from './accumulator-path.js'
import { computeEventRoot, EventTree, eventRootInSteps } from './event-root.js'

const hasher = new LedgerHasher()

/** BCS of a module event with these data. */
function eventOf(data: Uint8Array): Uint8Array {
  const writer = new ByteWriter().u8(1)
  writeTypeTag(writer, parseStructTag('0x1::a::B'))
  return writer.byteString(data).toBytes()
}

function vectorOf(events: readonly Uint8Array[]): Uint8Array {
  const writer = new ByteWriter().uleb128(events.length)
  for (const event of events) writer.bytes(event)
  return writer.toBytes()
}

const vectors = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 40 })

const treeOf = (bytes: Uint8Array) => atOnce(EventTree.inSteps(bytes, hasher))

describe('EventTree', () => {
  it('leads from each event to the root of all of them', () => {
    fc.assert(
      fc.property(vectors, (data) => {
        const events = data.map(eventOf)
        const bytes = vectorOf(events)
        const root = computeEventRoot(new ByteReader(bytes), hasher)
        const tree = treeOf(bytes)
        expect(bytesToHex(tree.root)).toBe(bytesToHex(root))
        expect(bytesToHex(atOnce(eventRootInSteps(bytes, hasher)))).toBe(bytesToHex(root))
        for (const [index, event] of events.entries()) {
          const siblings = tree.pathOf(index)
          expect(siblings.length).toBe(Math.ceil(Math.log2(events.length)))
          const leaf = hasher.hash('ContractEvent', event)
          expect(bytesToHex(rootByPath(hasher, leaf, BigInt(index), siblings, 'EventAccumulator'))).toBe(
            bytesToHex(root),
          )
        }
      }),
      { numRuns: 30 },
    )
  })

  it('leads from no other place, and from no other event, to that root', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(1_000), { minLength: 2, maxLength: 20 }), fc.nat(), (numbers, at) => {
        const events = numbers.map((number) => eventOf(new ByteWriter().u64(BigInt(number)).toBytes()))
        const bytes = vectorOf(events)
        const root = computeEventRoot(new ByteReader(bytes), hasher)
        const index = at % events.length
        const siblings = treeOf(bytes).pathOf(index)
        for (const [other, event] of events.entries()) {
          const leaf = hasher.hash('ContractEvent', event)
          const found = rootByPath(hasher, leaf, BigInt(index), siblings, 'EventAccumulator')
          expect(compareBytes(found, root) === 0).toBe(other === index)
        }
        const leaf = hasher.hash('ContractEvent', events[index]!)
        const place = (index + 1) % 2 ** siblings.length
        const elsewhere = rootByPath(hasher, leaf, BigInt(place), siblings, 'EventAccumulator')
        expect(bytesToHex(elsewhere)).not.toBe(bytesToHex(root))
      }),
      { numRuns: 30 },
    )
  })

  it('of a single event is empty', () => {
    const event = eventOf(Uint8Array.of(7))
    const bytes = vectorOf([event])
    expect(treeOf(bytes).pathOf(0)).toEqual([])
    const root = computeEventRoot(new ByteReader(bytes), hasher)
    expect(bytesToHex(root)).toBe(bytesToHex(hasher.hash('ContractEvent', event)))
  })

  it('of no events has the root of an empty accumulator', () => {
    const root = computeEventRoot(new ByteReader(vectorOf([])), hasher)
    expect(bytesToHex(treeOf(vectorOf([])).root)).toBe(bytesToHex(root))
  })

  it('is made in steps of a few hashes', () => {
    const events = Array.from({ length: 5_000 }, (_, at) => eventOf(new ByteWriter().u64(BigInt(at)).toBytes()))
    const bytes = vectorOf(events)
    const root = computeEventRoot(new ByteReader(bytes), hasher)
    const countOf = (steps: Steps<Uint8Array>): number => {
      let count = 0
      let step = steps.next()
      for (; !step.done; step = steps.next()) count++
      expect(bytesToHex(step.value)).toBe(bytesToHex(root))
      return count
    }
    function* rootOfTree(): Steps<Uint8Array> {
      return (yield* EventTree.inSteps(bytes, hasher)).root
    }
    expect(countOf(rootOfTree())).toBeGreaterThan((2 * events.length) / 100)
    expect(countOf(eventRootInSteps(bytes, hasher))).toBeGreaterThan(events.length / 100)
  })

  it('of a count that its bytes cannot have is refused before memory is taken', () => {
    const bytes = new ByteWriter().uleb128(2 ** 31 - 1).toBytes()
    expect(() => treeOf(bytes)).toThrow(expect.objectContaining({ code: 'invalid_bcs' }))
  })
})
