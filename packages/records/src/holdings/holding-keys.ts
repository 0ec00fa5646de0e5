import { ADDRESS_LENGTH, ByteReader, ByteWriter, isLedgerStateError } from '@ledger-state/core'
import { compareBytes, copyBytes } from '@ledger-state/core/bytes'
import { sha3 } from '@ledger-state/proof'
import {
  parseStructTag,
  parseTypeTag,
  readTypeTag,
  resourceGroupKey,
  resourceKey,
  STATE_KEY_ADDRESS_AT,
  type TypeTag,
  typeTagToText,
  writeTypeTag,
} from '@ledger-state/type-tag'
import { LONGEST_COIN_NAME } from '../own-keys.js'

// State keys of objects and coin stores.

const NO_ADDRESS = new Uint8Array(ADDRESS_LENGTH)
const ADDRESS_END = STATE_KEY_ADDRESS_AT + ADDRESS_LENGTH
/** End of the state key of every object, after its address. */
const OBJECT_END = copyBytes(resourceGroupKey(NO_ADDRESS, parseStructTag('0x1::object::ObjectGroup')), ADDRESS_END)
const COIN_STORE = parseStructTag('0x1::coin::CoinStore')
/** Path of a coin store up to its coin type: kind, `0x1::coin::CoinStore`, and one type argument. */
const COIN_PATH = pathBeforeArgument()

const HASH_LENGTH = 32

/** A coin type, and how keys name it. */
export interface CoinName {
  readonly tag: TypeTag
  /** As chains print it: `, ` between type arguments, short addresses. */
  readonly text: string
  /** Its text in UTF-8; of a very long one, the beginning and a hash. */
  readonly name: Uint8Array
  /** SHA3-256 of its BCS. */
  readonly hash: Uint8Array
  /** Value of the rows that name it: empty if the coin type can be parsed from its name, and its BCS otherwise. */
  readonly row: Uint8Array
}

const NOTHING = new Uint8Array(0)

/** Names a coin type. */
export function coinNameOf(tag: TypeTag): CoinName {
  const text = typeTagToText(tag)
  const bcs = tagBytes(tag)
  const utf8 = new TextEncoder().encode(text)
  const isWhole = utf8.length <= LONGEST_COIN_NAME
  const name = isWhole ? utf8 : withHash(utf8)
  const row = isWhole && isParsedAs(text, bcs) ? NOTHING : bcs
  return { tag, text, name, hash: Uint8Array.from(sha3(bcs)), row }
}

/** The coin type of a row. */
export function coinOfRow(name: Uint8Array, row: Uint8Array): TypeTag {
  return row.length === 0 ? parseTypeTag(new TextDecoder().decode(name)) : readTypeTag(new ByteReader(row))
}

/** Key of the resource group of an object. */
export function objectKey(address: Uint8Array): Uint8Array {
  const key = new Uint8Array(ADDRESS_END + OBJECT_END.length)
  key.set(address, STATE_KEY_ADDRESS_AT)
  key.set(OBJECT_END, ADDRESS_END)
  return key
}

/** Key of the store of a coin type on an account. */
export function coinStoreKey(account: Uint8Array, coin: TypeTag): Uint8Array {
  return resourceKey(account, { ...COIN_STORE, typeArguments: [coin] })
}

/** Whether a state key is an object's key. */
export function isObjectKey(key: Uint8Array): boolean {
  if (key.length !== ADDRESS_END + OBJECT_END.length || key[0] !== 0) return false
  for (let at = OBJECT_END.length - 1; at >= 0; at--) if (key[ADDRESS_END + at] !== OBJECT_END[at]) return false
  return true
}

/** BCS of the coin type in the state key of a coin store, a view of the key; undefined for other keys. */
export function coinTypeIn(key: Uint8Array): Uint8Array | undefined {
  if (key[0] !== 0 || key.length < ADDRESS_END + COIN_PATH.length) return undefined
  // The length of the path takes up to five bytes, and the first byte of the path follows it.
  let at = ADDRESS_END
  while (key[at]! >= 0x80 && at < ADDRESS_END + 5) at++
  at++
  for (let index = COIN_PATH.length - 1; index >= 0; index--) if (key[at + index] !== COIN_PATH[index]) return undefined
  return isPathLength(key, at) ? key.subarray(at + COIN_PATH.length) : undefined
}

/** Reads the coin type of `coinTypeIn`; undefined if it does not decode. */
export function readCoinType(bcs: Uint8Array): TypeTag | undefined {
  try {
    const reader = new ByteReader(bcs)
    const tag = readTypeTag(reader)
    reader.expectEnd()
    return tag
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

/** The address in the state key of an object or a coin store. */
export function addressIn(key: Uint8Array): Uint8Array {
  return copyBytes(key, STATE_KEY_ADDRESS_AT, ADDRESS_END)
}

/** Whether a key says in its shortest form that the path from `at` to its end has the length that it has. */
function isPathLength(key: Uint8Array, at: number): boolean {
  const length = key.length - at
  if (length < 0x80) return at === ADDRESS_END + 1 && key[ADDRESS_END] === length
  const written = new ByteWriter().uleb128(length).toBytes()
  return compareBytes(written, key.subarray(ADDRESS_END, at)) === 0
}

function isParsedAs(text: string, bcs: Uint8Array): boolean {
  try {
    return compareBytes(tagBytes(parseTypeTag(text)), bcs) === 0
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_type_tag')) return false
    throw error
  }
}

function withHash(utf8: Uint8Array): Uint8Array {
  const name = copyBytes(utf8, 0, LONGEST_COIN_NAME)
  name.set(sha3(utf8), LONGEST_COIN_NAME - HASH_LENGTH)
  return name
}

function tagBytes(tag: TypeTag): Uint8Array {
  const writer = new ByteWriter()
  writeTypeTag(writer, tag)
  return writer.toBytes()
}

function pathBeforeArgument(): Uint8Array {
  const key = resourceKey(NO_ADDRESS, parseStructTag('0x1::coin::CoinStore<u8>'))
  // The length of the path before it and the type argument after it have one byte each.
  return copyBytes(key, ADDRESS_END + 1, key.length - 1)
}
