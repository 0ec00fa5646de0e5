import { readFileSync } from 'node:fs'
import { ByteReader, ByteWriter, bytesToHex, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseStructTag } from './parse-type-tag.js'
import {
  accountKeyPrefix,
  decodeStateKey,
  encodeStateKey,
  isModuleKey,
  moduleKey,
  readStateKey,
  resourceGroupKey,
  resourceKey,
  type StateKey,
  stateKeyAt,
  tableItemKey,
  tableItemKeyOf,
  tableKeyPrefix,
  tagOfResourceKey,
} from './state-key.js'
import type { StructTag } from './type-tag.js'
import { structTagToBytes } from './type-tag-bcs.js'

const address = fc.uint8Array({ minLength: 32, maxLength: 32 })
const bytes = fc.uint8Array({ maxLength: 200 })
const name = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_$]{0,200}$/)
const typeArgument = fc.constantFrom({ kind: 'u8' } as const, parseStructTag('0x1::coin::Coin<vector<0xabc::m::S>>'))
const tag: fc.Arbitrary<StructTag> = fc.record({
  kind: fc.constant('struct'),
  address,
  module: name,
  name,
  typeArguments: fc.array(typeArgument, { maxLength: 3 }),
})

const stateKey: fc.Arbitrary<StateKey> = fc.oneof(
  fc.record({ kind: fc.constant('module' as const), address, name }),
  fc.record({ kind: fc.constantFrom('resource' as const, 'resourceGroup' as const), address, tag }),
  fc.record({ kind: fc.constant('tableItem' as const), handle: address, key: bytes }),
  fc.record({ kind: fc.constant('nativePosition' as const), position: bytes }),
  fc.record({ kind: fc.constant('raw' as const), bytes }),
)

function decodeOrFault(key: Uint8Array): StateKey | undefined {
  try {
    return decodeStateKey(key)
  } catch (error) {
    expect(isLedgerStateError(error, 'invalid_bcs')).toBe(true)
    return undefined
  }
}

describe('state keys in database form', () => {
  it('decode to the key that was encoded', () => {
    fc.assert(
      fc.property(stateKey, (key) => {
        expect(decodeStateKey(encodeStateKey(key))).toEqual(key)
      }),
    )
  })

  it('have a tag if they are those of resources, and none if they are damaged', () => {
    const damage = fc.record({ at: fc.nat(), byte: fc.nat(255), length: fc.option(fc.nat(300), { nil: undefined }) })
    fc.assert(
      fc.property(stateKey, fc.option(damage, { nil: undefined }), (key, damaged) => {
        const encoded = encodeStateKey(key)
        if (damaged) encoded[damaged.at % encoded.length] = damaged.byte
        const bytes = encoded.subarray(0, damaged?.length)
        const decoded = decodeOrFault(bytes)
        const expected = decoded?.kind === 'resource' ? decoded.tag : undefined
        const found = tagOfResourceKey(bytes)
        expect(found && Uint8Array.from(found)).toEqual(expected && Uint8Array.from(structTagToBytes(expected)))
      }),
      { numRuns: 500 },
    )
  })

  it('encode to the bytes that were decoded, whatever the bytes', () => {
    let accepted = 0
    const damaged = fc
      .tuple(stateKey, fc.nat(), fc.nat(255))
      .map(([key, at, byte]) => encodeStateKey(key).with(at % encodeStateKey(key).length, byte))
    fc.assert(
      fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 80 })), (candidate) => {
        const key = decodeOrFault(candidate)
        if (key === undefined) return
        accepted++
        expect(bytesToHex(encodeStateKey(key))).toBe(bytesToHex(candidate))
      }),
      { numRuns: 2_000 },
    )
    expect(accepted).toBeGreaterThan(100)
  })

  it('begin with the prefix of their account or table', () => {
    fc.assert(
      fc.property(address, tag, name, bytes, (owner, struct, module, item) => {
        const ofAccount = [moduleKey(owner, module), resourceKey(owner, struct), resourceGroupKey(owner, struct)]
        for (const key of ofAccount) expect(key.subarray(0, 33)).toEqual(accountKeyPrefix(owner))
        expect(tableItemKey(owner, item).subarray(0, 33)).toEqual(tableKeyPrefix(owner))
      }),
    )
  })

  it('are the same with an address or a handle in hex digits', () => {
    fc.assert(
      fc.property(address, address, tag, fc.uint8Array({ maxLength: 100 }), (owner, other, struct, item) => {
        const digits = bytesToHex(owner).slice(2)
        const hex = (key: Uint8Array) => bytesToHex(key)
        expect(hex(tableItemKeyOf(digits, item))).toBe(hex(tableItemKey(owner, item)))
        expect(hex(stateKeyAt(resourceKey(other, struct), digits))).toBe(hex(resourceKey(owner, struct)))
        expect(hex(stateKeyAt(resourceGroupKey(other, struct), digits))).toBe(hex(resourceGroupKey(owner, struct)))
      }),
    )
  })

  it('have the bytes that are documented', () => {
    const one = parseAddress('0x1')
    expect(bytesToHex(moduleKey(one, 'coin'))).toBe(`0x00${'00'.repeat(31)}0126${'00'.repeat(32)}0104636f696e`)
    expect(bytesToHex(resourceKey(one, parseStructTag('0x1::a::B')))).toBe(
      `0x00${'00'.repeat(31)}012601${'00'.repeat(31)}010161014200`,
    )
    expect(bytesToHex(tableItemKey(one, Uint8Array.of(7)))).toBe(`0x01${'00'.repeat(31)}0107`)
  })

  it.each([
    ['no bytes', [], /unexpected end/],
    ['an unknown kind', [7], /unknown kind 7 of a state key at byte 0/],
    ['an address that is cut short', [0, ...new Array(31).fill(0)], /unexpected end/],
    ['an unknown kind of path', [0, ...new Array(32).fill(0), 1, 9], /unknown kind 9 of an access path/],
    ['bytes after the path', [...moduleKey(parseAddress('0x1'), 'coin'), 0], /left over/],
    ['bytes in the path after the module', withPath([0, ...new Array(32).fill(0), 1, 97, 0]), /left over/],
    ['bytes in the path after the resource', withPath([1, ...new Array(32).fill(0), 1, 97, 1, 65, 0, 0]), /left over/],
    ['a length that is not minimal', [0, ...new Array(32).fill(0), 0x80, 0], /not minimal/],
    ['a module of another account', withAccount(moduleKey(parseAddress('0x1'), 'coin'), 2), /another address/],
  ])('refuse %s', (_, key, why) => {
    expect(() => decodeStateKey(Uint8Array.from(key))).toThrow(why)
  })
})

describe('isModuleKey', () => {
  it('finds the keys of modules among all keys', () => {
    fc.assert(
      fc.property(stateKey, (key) => {
        expect(isModuleKey(encodeStateKey(key))).toBe(key.kind === 'module')
      }),
    )
    // The name is so long that its length takes two bytes.
    expect(isModuleKey(moduleKey(new Uint8Array(32), 'm'.repeat(200)))).toBe(true)
  })

  it('finds none in the prefix of an account, nor in nothing', () => {
    expect(isModuleKey(accountKeyPrefix(new Uint8Array(32)))).toBe(false)
    expect(isModuleKey(new Uint8Array(0))).toBe(false)
  })
})

/** A key of the account 0x0 whose path has these bytes. */
function withPath(path: number[]): number[] {
  return [...new Array(33).fill(0), path.length, ...path]
}

function withAccount(key: Uint8Array, lastByte: number): number[] {
  return [...key.with(32, lastByte)]
}

/** BCS form of a key, written from the description of the format, independently of the code under test. */
function toBcs(key: StateKey): Uint8Array {
  switch (key.kind) {
    case 'tableItem':
      return new ByteWriter().u8(1).bytes(key.handle).byteString(key.key).toBytes()
    case 'raw':
      return new ByteWriter().u8(2).byteString(key.bytes).toBytes()
    case 'nativePosition':
      return new ByteWriter().u8(3).bytes(key.position).toBytes()
    default:
      return encodeStateKey(key)
  }
}

describe('readStateKey', () => {
  it('reads a key in BCS into its database form, and stops where the key ends', () => {
    const position = fc.uint8Array({ minLength: 96, maxLength: 96 }).map((rest) => Uint8Array.of(0, ...rest))
    const native = fc.record({ kind: fc.constant('nativePosition' as const), position })
    const other = stateKey.filter(({ kind }) => kind !== 'nativePosition')
    fc.assert(
      fc.property(fc.oneof(other, native), bytes, (key, rest) => {
        const bcs = toBcs(key)
        const reader = new ByteReader(Uint8Array.of(...bcs, ...rest))
        expect(bytesToHex(readStateKey(reader))).toBe(bytesToHex(encodeStateKey(key)))
        expect(reader.offset).toBe(bcs.length)
      }),
    )
  })

  it('answers any bytes with a key or with invalid_bcs', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (noise) => {
        try {
          readStateKey(new ByteReader(noise))
        } catch (error) {
          expect(isLedgerStateError(error, 'invalid_bcs')).toBe(true)
        }
      }),
    )
    const native = Uint8Array.of(3, 9, ...new Uint8Array(96))
    expect(() => readStateKey(new ByteReader(native))).toThrow(/unknown variant 9 of a native position at byte 1/)
    const unknown = new ByteReader(Uint8Array.of(0xff, 4, 0), 1)
    expect(() => readStateKey(unknown)).toThrow('unknown kind 4 of a state key at byte 1')
  })
})

describe.skipIf(!hasSharedData)('every state key of a genesis', () => {
  it.each([
    ['mainnet', 1_394],
    ['testnet', 128],
    ['devnet', 302],
  ])('of %s decodes, and encodes to the same bytes', (network, count) => {
    const reader = new ByteReader(readFileSync(sharedPath(`data/genesis/${network}.genesis.blob`)))
    // Genesis transaction, direct write set, version 0 of write sets.
    expect([reader.readU8(), reader.readU8(), reader.readU8()]).toEqual([1, 0, 0])
    expect(reader.readLength()).toBe(count)
    for (let left = count; left > 0; left--) {
      const start = reader.offset
      const stored = readStateKey(reader)
      const key = decodeStateKey(stored)
      expect(bytesToHex(encodeStateKey(key))).toBe(bytesToHex(stored))
      expect(bytesToHex(toBcs(key))).toBe(bytesToHex(reader.bytes.subarray(start, reader.offset)))
      // All writes of these are creations or modifications without metadata.
      expect(reader.readU8()).toBeLessThanOrEqual(1)
      reader.readByteString()
    }
  })
})
