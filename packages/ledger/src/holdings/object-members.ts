import { ADDRESS_LENGTH, ByteReader, isLedgerStateError } from '@ledger-state/core'
import { copyBytes, decodeUtf8 } from '@ledger-state/core/bytes'
import { findGroupMember, findGroupMembers } from '@ledger-state/move-module'
import { parseStructTag, structTagToBytes } from '@ledger-state/type-tag'

// Members of the resource groups of fungible assets, tokens and collections, in the framework's layouts. A member that
// does not decode completely is absent.

const EVENT_HANDLE_LENGTH = 8 + 8 + ADDRESS_LENGTH
const U64_LIMIT = 2n ** 64n - 1n
const U128_LIMIT = 2n ** 128n - 1n
const U64 = 8
const U128 = 16

/** Bytes of a member; undefined if the group has none. */
type Member = Uint8Array | undefined

const CORE = tagBytes('0x1::object::ObjectCore')
const PROPERTIES = tagBytes('0x4::property_map::PropertyMap')
const FUNGIBLE_MEMBERS = [
  '0x1::fungible_asset::Metadata',
  '0x1::fungible_asset::Supply',
  '0x1::fungible_asset::ConcurrentSupply',
].map(tagBytes)
const TOKEN_MEMBERS = ['0x4::token::Token', '0x4::token::TokenIdentifiers'].map(tagBytes)
const COLLECTION_MEMBERS = [
  '0x4::collection::Collection',
  '0x4::aptos_token::AptosCollection',
  '0x4::collection::ConcurrentSupply',
  '0x4::collection::FixedSupply',
  '0x4::collection::UnlimitedSupply',
].map(tagBytes)

/** The member `0x1::fungible_asset::Metadata` of an object, and its supply. */
export interface FungibleMetadata {
  readonly name: string
  readonly symbol: string
  readonly decimals: number
  readonly iconUri: string
  readonly projectUri: string
  /** Undefined if the asset does not record its supply. */
  readonly supply: bigint | undefined
  /** Undefined if the supply has no maximum. */
  readonly maximum: bigint | undefined
}

/** The member `0x4::token::Token` of an object. */
export interface TokenData {
  /** Address of the collection. */
  readonly collection: Uint8Array
  readonly name: string
  readonly description: string
  readonly uri: string
}

/** A property of a token: its name, the number of its type, and its value in BCS. */
export interface TokenProperty {
  readonly name: string
  readonly type: number
  readonly value: Uint8Array
}

/** The member `0x4::collection::Collection` of an object, and its supply. */
export interface CollectionData {
  readonly creator: Uint8Array
  readonly name: string
  readonly description: string
  readonly uri: string
  /** Tokens that exist. Undefined if the collection does not count them. */
  readonly supply: bigint | undefined
  /** Undefined if the supply has no maximum. */
  readonly maximum: bigint | undefined
  /** Tokens that were ever minted. */
  readonly minted: bigint | undefined
  /** Undefined if it is no collection of `0x4::aptos_token`; no other kind says so. */
  readonly isDescriptionMutable: boolean | undefined
  readonly isUriMutable: boolean | undefined
}

/** Number of the GUIDs that an object has created: the beginning of its `ObjectCore`. */
export function readGuidCount(group: Uint8Array): bigint | undefined {
  const bytes = memberIn(group, CORE)
  return bytes && ifDecoded(() => new ByteReader(bytes).readU64())
}

/** Reads the metadata of a fungible asset from the group of an object; undefined if it has none. */
export function readFungibleMetadata(group: Uint8Array): FungibleMetadata | undefined {
  const [metadataBytes, plain, concurrent] = membersIn(group, FUNGIBLE_MEMBERS)
  const metadata = readMember(metadataBytes, (reader) => {
    const [name, symbol] = [readText(reader), readText(reader)]
    return { name, symbol, decimals: reader.readU8(), iconUri: readText(reader), projectUri: readText(reader) }
  })
  return metadata && { ...metadata, ...readSupply(plain, concurrent) }
}

interface Supply {
  readonly supply: bigint | undefined
  readonly maximum: bigint | undefined
}

function readSupply(plainBytes: Member, concurrentBytes: Member): Supply {
  const plain = readMember(plainBytes, (reader) => {
    const supply = reader.readWideInteger(U128)
    return { supply, maximum: reader.readOption(() => reader.readWideInteger(U128)) }
  })
  const concurrent = readMember(concurrentBytes, (reader) => readAggregator(reader, U128, U128_LIMIT))
  return plain ?? concurrent ?? { supply: undefined, maximum: undefined }
}

/** Reads a token from the group of an object; undefined if it is none. */
export function readToken(group: Uint8Array): TokenData | undefined {
  const [tokenBytes, identifiers] = membersIn(group, TOKEN_MEMBERS)
  const token = readMember(tokenBytes, (reader) => {
    const collection = readAddress(reader)
    reader.skip(U64)
    const [description, name, uri] = [readText(reader), readText(reader), readText(reader)]
    reader.skip(EVENT_HANDLE_LENGTH)
    return { collection, name, description, uri }
  })
  // A token that was minted concurrently has its name here: a snapshot of its index, its name, and padding.
  const named = readMember(identifiers, (reader) => {
    reader.skip(U64)
    const name = readText(reader)
    reader.readByteString()
    return name
  })
  return token && (named === undefined ? token : { ...token, name: named })
}

/** The properties of a token, in their order; undefined if it has no property map. */
export function readTokenProperties(group: Uint8Array): readonly TokenProperty[] | undefined {
  return readMember(memberIn(group, PROPERTIES), (reader) => {
    const properties: TokenProperty[] = []
    for (let left = reader.readLength(); left > 0; left--) {
      properties.push({ name: readText(reader), type: reader.readU8(), value: reader.readByteString() })
    }
    return properties
  })
}

/** Reads a collection from the group of an object; undefined if it is none. */
export function readCollection(group: Uint8Array): CollectionData | undefined {
  const [collectionBytes, mutability, ...supplies] = membersIn(group, COLLECTION_MEMBERS)
  const collection = readMember(collectionBytes, (reader) => {
    const creator = readAddress(reader)
    const [description, name, uri] = [readText(reader), readText(reader), readText(reader)]
    reader.skip(EVENT_HANDLE_LENGTH)
    return { creator, name, description, uri }
  })
  return collection && { ...collection, ...readCollectionSupply(supplies), ...readMutability(mutability) }
}

function readCollectionSupply([concurrentBytes, fixed, unlimited]: readonly Member[]): Pick<
  CollectionData,
  'supply' | 'maximum' | 'minted'
> {
  const concurrent = readMember(concurrentBytes, (reader) => {
    const counted = readAggregator(reader, U64, U64_LIMIT)
    return { ...counted, minted: readAggregator(reader, U64, U64_LIMIT).supply }
  })
  const withEvents = (hasMaximum: boolean) => (reader: ByteReader) => {
    const supply = reader.readU64()
    const maximum = hasMaximum ? reader.readU64() : undefined
    const minted = reader.readU64()
    reader.skip(2 * EVENT_HANDLE_LENGTH)
    return { supply, maximum, minted }
  }
  return (
    concurrent ??
    readMember(fixed, withEvents(true)) ??
    readMember(unlimited, withEvents(false)) ?? {
      supply: undefined,
      maximum: undefined,
      minted: undefined,
    }
  )
}

/** The beginning of `AptosCollection`: two references that may be absent, then the flags of mutability. */
function readMutability(bytes: Member): Pick<CollectionData, 'isDescriptionMutable' | 'isUriMutable'> {
  const read = (): Pick<CollectionData, 'isDescriptionMutable' | 'isUriMutable'> => {
    const reader = new ByteReader(bytes!)
    for (let left = 2; left > 0; left--) reader.readOption(() => reader.skip(ADDRESS_LENGTH))
    return { isDescriptionMutable: reader.readBool(), isUriMutable: reader.readBool() }
  }
  return (bytes && ifDecoded(read)) ?? { isDescriptionMutable: undefined, isUriMutable: undefined }
}

/** An aggregator: value and limit. The greatest number as its limit means that it has none. */
function readAggregator(reader: ByteReader, width: number, none: bigint): Supply {
  const supply = reader.readWideInteger(width)
  const maximum = reader.readWideInteger(width)
  return { supply, maximum: maximum === none ? undefined : maximum }
}

/** Reads a whole member of a group; undefined if the group has none, or if it does not decode completely. */
function readMember<T>(bytes: Member, read: (reader: ByteReader) => T): T | undefined {
  return (
    bytes &&
    ifDecoded(() => {
      const reader = new ByteReader(bytes)
      const value = read(reader)
      reader.expectEnd()
      return value
    })
  )
}

function memberIn(group: Uint8Array, tag: Uint8Array): Member {
  return ifDecoded(() => findGroupMember(group, tag))
}

/** Finds several members in one pass: a group may be long. */
function membersIn(group: Uint8Array, tags: readonly Uint8Array[]): readonly Member[] {
  return ifDecoded(() => findGroupMembers(group, tags)) ?? []
}

function readAddress(reader: ByteReader): Uint8Array {
  return copyBytes(reader.readBytes(ADDRESS_LENGTH))
}

/** Text that is not UTF-8 does not decode. */
export function readText(reader: ByteReader): string {
  const text = decodeUtf8(reader.readByteString())
  if (text === undefined) throw reader.fault('the text is not UTF-8')
  return text
}

/** Runs a decoder; undefined if the bytes are not the BCS that it expects. */
export function ifDecoded<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

/** BCS of a struct tag, by which groups name their members. */
function tagBytes(text: string): Uint8Array {
  return structTagToBytes(parseStructTag(text))
}
