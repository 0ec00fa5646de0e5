import { ByteWriter, parseAddress } from '@ledger-state/core'
import { parseStructTag, writeStructTag } from '@ledger-state/type-tag'
import { describe, expect, it } from 'vitest'
import {
  readCollection,
  readFungibleMetadata,
  readGuidCount,
  readToken,
  readTokenProperties,
} from './object-members.js'

const EVENTS = new Uint8Array(48)
const CREATOR = parseAddress('0xc0ffee')
const U64_MAX = 2n ** 64n - 1n

function u128(writer: ByteWriter, value: bigint): ByteWriter {
  return writer.u64(value & U64_MAX).u64(value >> 64n)
}

/** The group of an object with these members. */
function groupOf(members: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const encoded = Object.entries(members).map(([type, value]) => {
    const name = new ByteWriter()
    writeStructTag(name, parseStructTag(type))
    return [Buffer.from(name.toBytes()), value] as const
  })
  const group = new ByteWriter().uleb128(encoded.length)
  for (const [name, value] of encoded.sort(([a], [b]) => Buffer.compare(a, b))) {
    group.bytes(name).uleb128(value.length).bytes(value)
  }
  return group.toBytes()
}

const METADATA = new ByteWriter().string('Grain').string('GRN').u8(6).string('icon').string('project').toBytes()
const COLLECTION = new ByteWriter().bytes(CREATOR).string('about').string('Birds').string('uri').bytes(EVENTS).toBytes()
const TOKEN = new ByteWriter().bytes(CREATOR).u64(1n).string('about').string('#1').string('uri').bytes(EVENTS).toBytes()

describe('the members of an object', () => {
  it('have the supply of a fungible asset in each of its layouts', () => {
    const supplyIn = (members: Readonly<Record<string, Uint8Array>>) => {
      const { supply, maximum } = readFungibleMetadata(
        groupOf({ '0x1::fungible_asset::Metadata': METADATA, ...members }),
      )!
      return [supply, maximum]
    }
    const plain = (maximum?: bigint) => {
      const writer = u128(new ByteWriter(), 2n ** 70n).uleb128(maximum === undefined ? 0 : 1)
      return { '0x1::fungible_asset::Supply': (maximum === undefined ? writer : u128(writer, maximum)).toBytes() }
    }
    const concurrent = (maximum: bigint) => ({
      '0x1::fungible_asset::ConcurrentSupply': u128(u128(new ByteWriter(), 5n), maximum).toBytes(),
    })
    expect(supplyIn({})).toEqual([undefined, undefined])
    expect(supplyIn(plain())).toEqual([2n ** 70n, undefined])
    expect(supplyIn(plain(2n ** 71n))).toEqual([2n ** 70n, 2n ** 71n])
    expect(supplyIn(concurrent(7n))).toEqual([5n, 7n])
    expect(supplyIn(concurrent(2n ** 128n - 1n))).toEqual([5n, undefined])
    expect(readFungibleMetadata(groupOf({ '0x1::fungible_asset::Metadata': METADATA }))).toMatchObject({
      name: 'Grain',
      symbol: 'GRN',
      decimals: 6,
      iconUri: 'icon',
      projectUri: 'project',
    })
  })

  it('have the supply of a collection in each of its layouts', () => {
    const supplyIn = (type: string, value: ByteWriter) => {
      const group = groupOf({
        '0x4::collection::Collection': COLLECTION,
        [`0x4::collection::${type}`]: value.toBytes(),
      })
      const { supply, maximum, minted } = readCollection(group)!
      return [supply, maximum, minted]
    }
    const fixed = new ByteWriter().u64(1n).u64(2n).u64(3n).bytes(EVENTS).bytes(EVENTS)
    expect(supplyIn('FixedSupply', fixed)).toEqual([1n, 2n, 3n])
    expect(supplyIn('UnlimitedSupply', new ByteWriter().u64(1n).u64(3n).bytes(EVENTS).bytes(EVENTS))).toEqual([
      1n,
      undefined,
      3n,
    ])
    expect(supplyIn('ConcurrentSupply', new ByteWriter().u64(1n).u64(2n).u64(3n).u64(U64_MAX))).toEqual([1n, 2n, 3n])
    expect(supplyIn('ConcurrentSupply', new ByteWriter().u64(1n).u64(U64_MAX).u64(3n).u64(U64_MAX))).toEqual([
      1n,
      undefined,
      3n,
    ])
    expect(supplyIn('Other', fixed)).toEqual([undefined, undefined, undefined])
  })

  it('list the parts of a collection that may change', () => {
    const flagsOf = (aptos: ByteWriter) => {
      const members = {
        '0x4::collection::Collection': COLLECTION,
        '0x4::aptos_token::AptosCollection': aptos.toBytes(),
      }
      const { isDescriptionMutable, isUriMutable } = readCollection(groupOf(members))!
      return [isDescriptionMutable, isUriMutable]
    }
    expect(
      flagsOf(new ByteWriter().uleb128(1).bytes(CREATOR).uleb128(1).bytes(CREATOR).bool(false).bool(true)),
    ).toEqual([false, true])
    expect(flagsOf(new ByteWriter().uleb128(0).uleb128(0).bool(true).bool(false))).toEqual([true, false])
    expect(flagsOf(new ByteWriter().uleb128(2).uleb128(0).bool(true).bool(false))).toEqual([undefined, undefined])
  })

  it('have the name of a token, even one that was minted concurrently, and its properties', () => {
    const token = { '0x4::token::Token': TOKEN }
    expect(readToken(groupOf(token))).toEqual({
      collection: Uint8Array.from(CREATOR),
      description: 'about',
      name: '#1',
      uri: 'uri',
    })
    const identifiers = new ByteWriter().u64(9n).string('Ninth').uleb128(1).u8(0).toBytes()
    expect(readToken(groupOf({ ...token, '0x4::token::TokenIdentifiers': identifiers }))!.name).toBe('Ninth')
    const properties = new ByteWriter().uleb128(1).string('age').u8(1).uleb128(1).u8(7).toBytes()
    const [age, ...others] = readTokenProperties(groupOf({ ...token, '0x4::property_map::PropertyMap': properties }))!
    expect([age!.name, age!.type, [...age!.value], others]).toEqual(['age', 1, [7], []])
    expect(readTokenProperties(groupOf(token))).toBe(undefined)
  })

  it('are absent if they do not decode completely', () => {
    const whole = {
      '0x1::fungible_asset::Metadata': METADATA,
      '0x4::collection::Collection': COLLECTION,
      '0x4::token::Token': TOKEN,
    }
    for (const cut of [(bytes: Uint8Array) => bytes.subarray(1), (bytes: Uint8Array) => Uint8Array.of(...bytes, 0)]) {
      const group = groupOf(Object.fromEntries(Object.entries(whole).map(([type, bytes]) => [type, cut(bytes)])))
      expect([readFungibleMetadata(group), readCollection(group), readToken(group)]).toEqual([
        undefined,
        undefined,
        undefined,
      ])
    }
    const notUtf8 = new ByteWriter().uleb128(1).u8(0xff).bytes(METADATA).toBytes()
    expect(readFungibleMetadata(groupOf({ '0x1::fungible_asset::Metadata': notUtf8 }))).toBe(undefined)
    const broken = groupOf(whole).subarray(1)
    expect([readFungibleMetadata(broken), readGuidCount(broken)]).toEqual([undefined, undefined])
    // A length far beyond the bytes is refused before anything is allocated.
    const long = new ByteWriter().uleb128(0x7fff_ffff).toBytes()
    expect(readTokenProperties(groupOf({ '0x4::property_map::PropertyMap': long }))).toBe(undefined)
  })
})
