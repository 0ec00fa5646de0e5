import { Buffer } from 'node:buffer'
import { createRandom } from '@ledger-state/testing/random'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { packEnding, unpackEnding } from './epoch-change.js'

const random = createRandom(7)
const VALIDATORS = random.bytes(4_000)
/** Epoch changes with the same validators, whose epoch and signature differ. */
const endings = Array.from({ length: 65 }, (_, epoch) =>
  Buffer.concat([Buffer.from([epoch]), VALIDATORS, random.bytes(96)]),
)

describe('an epoch change', () => {
  it('is unpacked as it was packed, with the one before and without, whatever its bytes are', () => {
    const bytes = fc.uint8Array({ maxLength: 500 })
    const epochs = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n })
    fc.assert(
      fc.property(epochs, bytes, fc.option(bytes, { nil: undefined }), (epoch, ending, previous) => {
        const unpacked = unpackEnding(packEnding(epoch, ending, previous), previous)
        expect(Buffer.from(unpacked)).toEqual(Buffer.from(ending))
      }),
    )
  })

  it('takes little more than its signature if most of its validators stay', () => {
    const packed = endings.map((ending, at) => packEnding(BigInt(at), ending, endings[at - 1]))
    const sizes = packed.slice(33, 64).map(({ packed }) => packed.length)
    expect(Math.max(...sizes)).toBeLessThan(endings[40]!.length * 0.6)
  })

  it('is packed by itself in each 32nd epoch, so that reading one unpacks 32 at most', () => {
    const wholes = endings.filter((ending, at) => packEnding(BigInt(at), ending, endings[at - 1]).packed[0] === 0)
    expect(wholes).toEqual([endings[0], endings[32], endings[64]])
  })

  it('that is damaged, or lacks the one before, is not trusted', () => {
    const [before, ending] = [endings[0]!, endings[1]!]
    const { packed } = packEnding(1n, ending, before)
    const refusals: readonly (readonly [Uint8Array, Uint8Array | undefined])[] = [
      [packed, undefined],
      [Uint8Array.of(7, ...packed.subarray(1)), before],
      [packed.subarray(0, 20), before],
      [new Uint8Array(0), before],
    ]
    for (const [bytes, previous] of refusals) {
      expect(() => unpackEnding({ epoch: 1n, packed: bytes }, previous)).toThrow(
        /^the stored change of epoch 1 cannot be read/,
      )
    }
  })
})
