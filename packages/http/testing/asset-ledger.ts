// A small ledger of two versions with assets, objects, a collection and its tokens, in the framework's layouts, and its
// index of holdings.
import { ByteWriter, parseAddress, type VersionWrites, type Write } from '@ledger-state/core'
import { namedObjectAddress, primaryStoreAddress } from '@ledger-state/ledger'
import { withHoldings } from '@ledger-state/ledger/testing/index-holdings'
import { coinStoreKey, objectKey } from '@ledger-state/records'
import { parseStructTag, resourceKey, writeStructTag } from '@ledger-state/type-tag'

const long = (short: string): string => `0x${short.padStart(64, '0')}`
const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`

export const ALICE = long('a11ce')
export const BOB = long('b0b')
export const CREATOR = long('c0ffee')
export const ASSET = long('fa1')
export const COIN = '0xc0ffee::bean::Bean'
export const COLLECTION_NAME = 'Birds "of" the Alps'
export const COLLECTION = hex(namedObjectAddress(parseAddress(CREATOR), new TextEncoder().encode(COLLECTION_NAME)))
export const ALICE_STORE = hex(primaryStoreAddress(parseAddress(ALICE), parseAddress(ASSET)))
export const BOB_STORE = hex(primaryStoreAddress(parseAddress(BOB), parseAddress(ASSET)))
/** A store that Alice owns in addition to her primary one. */
export const SECOND_STORE = long('5ec0')
export const TOKENS = ['70e1', '70e2', '70e3'].map(long)
export const SUPPLY_TABLE = long('7ab1e')
/** Time of version 1; version 0 has 0. */
export const SECOND_BLOCK_USEC = 1_700_000_000_123_456n

const EVENTS = new Uint8Array(48)
const U128_MAX = 2n ** 128n - 1n

type Fill = (writer: ByteWriter) => ByteWriter
type Member = readonly [type: string, fill: Fill]

function u128(writer: ByteWriter, value: bigint): ByteWriter {
  return writer.u64(value & (2n ** 64n - 1n)).u64(value >> 64n)
}

/** Writes an object: its core, and other members. */
export function objectWrite(at: string, owner: string, isUngated: boolean, members: readonly Member[]): Write {
  const core: Member = [
    '0x1::object::ObjectCore',
    (writer) => writer.u64(1_125_899_906_842_624n).bytes(parseAddress(owner)).bool(isUngated).bytes(EVENTS),
  ]
  const encoded = [core, ...members].map(([type, fill]) => {
    const name = new ByteWriter()
    writeStructTag(name, parseStructTag(type))
    return [Buffer.from(name.toBytes()), fill(new ByteWriter()).toBytes()] as const
  })
  const group = new ByteWriter().uleb128(encoded.length)
  for (const [name, value] of encoded.sort(([a], [b]) => Buffer.compare(a, b))) {
    group.bytes(name).uleb128(value.length).bytes(value)
  }
  return [objectKey(parseAddress(at)), group.toBytes()]
}

export function storeMember(amount: bigint, isFrozen = false): Member {
  return [
    '0x1::fungible_asset::FungibleStore',
    (writer) => writer.bytes(parseAddress(ASSET)).u64(amount).bool(isFrozen),
  ]
}

function coinStore(account: string, amount: bigint): Write {
  const value = new ByteWriter().u64(amount).bool(false).bytes(EVENTS).bytes(EVENTS).toBytes()
  return [coinStoreKey(parseAddress(account), parseStructTag(COIN)), value]
}

export function metadataMembers(): Member[] {
  return [
    [
      '0x1::fungible_asset::Metadata',
      (writer) => {
        writer.string('Grain').string('GRN').u8(6)
        return writer.string('https://grain.example/icon').string('https://grain.example')
      },
    ],
    ['0x1::fungible_asset::ConcurrentSupply', (writer) => u128(u128(writer, 2n ** 65n), U128_MAX)],
  ]
}

export function collectionMembers(): Member[] {
  return [
    [
      '0x4::collection::Collection',
      (writer) => {
        writer.bytes(parseAddress(CREATOR)).string('Seen there').string(COLLECTION_NAME)
        return writer.string('https://birds.example').bytes(EVENTS)
      },
    ],
    ['0x4::collection::FixedSupply', (writer) => writer.u64(3n).u64(10n).u64(4n).bytes(EVENTS).bytes(EVENTS)],
    [
      '0x4::aptos_token::AptosCollection',
      (writer) => {
        writer.uleb128(1).bytes(parseAddress(COLLECTION)).uleb128(0)
        // Seven flags; the first two are about the description and the URI.
        for (const flag of [true, false, true, true, true, true, true]) writer.bool(flag)
        return writer.bool(false).bool(true)
      },
    ],
  ]
}

export function tokenMembers(at: number): Member[] {
  const members: Member[] = [
    [
      '0x4::token::Token',
      (writer) => {
        writer.bytes(parseAddress(COLLECTION)).u64(BigInt(at)).string(`Bird ${at}`)
        return writer
          .string(at === 0 ? '' : `#${at}`)
          .string(`ipfs://${at}`)
          .bytes(EVENTS)
      },
    ],
  ]
  if (at === 0) {
    members.push([
      '0x4::token::TokenIdentifiers',
      (writer) => writer.u64(7n).string('Seventh').uleb128(3).bytes(new Uint8Array(3)),
    ])
    members.push([
      '0x4::property_map::PropertyMap',
      (writer) => {
        writer.uleb128(2).string('color').u8(9).uleb128(4).string('red')
        return writer
          .string('age')
          .u8(4)
          .uleb128(8)
          .u64(2n ** 60n)
      },
    ])
  }
  return members
}

function tokenWrite(at: number, owner: string): Write {
  return objectWrite(TOKENS[at]!, owner, at !== 2, tokenMembers(at))
}

function coinInfo(): Write {
  const writer = new ByteWriter().string('Bean').string('BEAN').u8(8)
  writer.uleb128(1).uleb128(1).bytes(parseAddress(SUPPLY_TABLE)).bytes(parseAddress(CREATOR))
  const value = u128(writer, U128_MAX).uleb128(0).toBytes()
  return [resourceKey(parseAddress(CREATOR), parseStructTag(`0x1::coin::CoinInfo<${COIN}>`)), value]
}

/** Versions 0 and 1: then Alice pays Bob, and gives him her second token. */
export function assetLedger(): readonly VersionWrites[] {
  const first: Write[] = [
    coinInfo(),
    coinStore(ALICE, 500n),
    objectWrite(ASSET, CREATOR, false, metadataMembers()),
    objectWrite(ALICE_STORE, ALICE, false, [storeMember(2n ** 63n)]),
    objectWrite(SECOND_STORE, ALICE, true, [storeMember(0n, true)]),
    objectWrite(COLLECTION, CREATOR, false, collectionMembers()),
    ...TOKENS.map((_, at) => tokenWrite(at, at === 2 ? BOB : ALICE)),
  ]
  const second: Write[] = [
    objectWrite(ALICE_STORE, ALICE, false, [storeMember(2n ** 63n - 7n)]),
    objectWrite(BOB_STORE, BOB, false, [storeMember(7n)]),
    tokenWrite(1, BOB),
  ]
  return withHoldings([
    { version: 0n, block: { height: 0n, epoch: 0n, timestampUsec: 0n }, writes: first },
    { version: 1n, block: { height: 1n, epoch: 1n, timestampUsec: SECOND_BLOCK_USEC }, writes: second },
  ])
}
