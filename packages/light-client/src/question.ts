import { type Codec, codecOf, parseJson } from '@ledger-state/bcs'
import { ByteReader, bytesToHex, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { findGroupMember, type GetModule, resolveLayout } from '@ledger-state/move-module'
import {
  moduleKey,
  parseStructTag,
  parseTypeTag,
  resourceGroupKey,
  resourceKey,
  type StructTag,
  structTagToBytes,
  type TypeTag,
  tableItemKey,
} from '@ledger-state/type-tag'
import { invalidOption } from './errors.js'
import { jsonOfRequest } from './json-of-request.js'

/** The requested item, as in the request. Addresses and types are texts. */
export type ReadQuestion =
  | {
      readonly kind: 'table_item'
      readonly handle: string
      readonly keyType: string
      readonly valueType: string
      /** The key as JSON, as in the request. */
      readonly key: unknown
    }
  /** An item of a table by the BCS of its key. */
  | { readonly kind: 'raw_table_item'; readonly handle: string; readonly key: Uint8Array }
  | { readonly kind: 'resource'; readonly address: string; readonly type: string }
  | { readonly kind: 'account'; readonly address: string }
  /** A module: the answer of `get_account_module`, or the state value that `moduleRequest` asks for. */
  | { readonly kind: 'module'; readonly address: string; readonly name: string }
  /** A state value by its key in database form. */
  | { readonly kind: 'state_value'; readonly stateKey: Uint8Array }

/** Finds the answer to a question in the state. */
export interface ValueLookup {
  readonly stateKey: Uint8Array
  /** Finds the bytes that were asked for in the value of the key; undefined if they are not in it. */
  pick(value: Uint8Array): Uint8Array | undefined
  /** Decodes these bytes as JSON; undefined if they have none. */
  toJson(bytes: Uint8Array): string | undefined
}

const ACCOUNT = parseStructTag('0x1::account::Account')
const whole = (value: Uint8Array): Uint8Array => value

/**
 * Finds the state key of the answer to a question, and the way to decode it.
 * @throws as the parsers, and as the codec of a key
 */
export function lookUp(question: ReadQuestion, getModule: GetModule): ValueLookup {
  switch (question?.kind) {
    case 'table_item': {
      const key = parseJson(jsonOfRequest('key', question.key ?? null))
      const keyBytes = codecFor(parseTypeTag(question.keyType), getModule).jsonToBytes(key)
      const codec = codecFor(parseTypeTag(question.valueType), getModule)
      const toJson = (bytes: Uint8Array) => codec.bytesToJson(bytes)
      return { stateKey: tableItemKey(parseAddress(question.handle), keyBytes), pick: whole, toJson }
    }
    case 'raw_table_item':
      return { stateKey: tableItemKey(parseAddress(question.handle), question.key), pick: whole, toJson: toHexJson }
    case 'resource':
      return lookUpResource(parseAddress(question.address), parseStructTag(question.type), getModule)
    case 'account':
      return {
        stateKey: resourceKey(parseAddress(question.address), ACCOUNT),
        pick: whole,
        toJson: accountToJson,
      }
    case 'module':
      return { stateKey: moduleKey(parseAddress(question.address), question.name), pick: whole, toJson: toHexJson }
    case 'state_value':
      return { stateKey: question.stateKey, pick: whole, toJson: () => undefined }
    default:
      throw invalidOption.unknownKind(question)
  }
}

function lookUpResource(address: Uint8Array, tag: StructTag, getModule: GetModule): ValueLookup {
  const codec = codecFor(tag, getModule)
  const toJson = (bytes: Uint8Array) => codec.bytesToJson(bytes)
  const group = groupOf(tag, getModule)
  if (!group) return { stateKey: resourceKey(address, tag), pick: whole, toJson }
  const name = structTagToBytes(tag)
  return { stateKey: resourceGroupKey(address, group), pick: (value) => findGroupMember(value, name), toJson }
}

/** The resource group of a resource, as its module declares it. */
function groupOf({ address, module, name }: StructTag, getModule: GetModule): StructTag | undefined {
  const found = getModule({ address, name: module })
  return found?.structs.find((struct) => struct.name === name)?.resourceGroup
}

function codecFor(tag: TypeTag, getModule: GetModule): Codec {
  const resolved = resolveLayout(tag, getModule)
  return codecOf(resolved.layout, resolved)
}

/** Decodes the JSON of an account: authentication key and sequence number, and not the members that follow them. */
function accountToJson(bytes: Uint8Array): string | undefined {
  try {
    const reader = new ByteReader(bytes)
    const key = bytesToHex(reader.readByteString())
    return `{"sequence_number":"${reader.readU64()}","authentication_key":"${key}"}`
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}

function toHexJson(bytes: Uint8Array): string {
  return `"${bytesToHex(bytes)}"`
}
