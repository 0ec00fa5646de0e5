import { ByteReader, ByteWriter, bytesToHex } from '@ledger-state/core'
import { compareBytes } from '@ledger-state/core/bytes'
import { parseStructTag, writeTypeTag } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LedgerHasher } from '../hashes/ledger-hasher.js'
import { rootByPath } from './accumulator-path.js'
import { computeEventRoot, eventPath } from './event-root.js'

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

describe('eventPath', () => {
  it('leads from each event to the root of all of them', () => {
    fc.assert(
      fc.property(vectors, (data) => {
        const events = data.map(eventOf)
        const bytes = vectorOf(events)
        const root = computeEventRoot(new ByteReader(bytes), hasher)
        for (const [index, event] of events.entries()) {
          const siblings = eventPath(new ByteReader(bytes), index, hasher)
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
        const siblings = eventPath(new ByteReader(bytes), index, hasher)
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
    expect(eventPath(new ByteReader(bytes), 0, hasher)).toEqual([])
    const root = computeEventRoot(new ByteReader(bytes), hasher)
    expect(bytesToHex(root)).toBe(bytesToHex(hasher.hash('ContractEvent', event)))
  })
})
