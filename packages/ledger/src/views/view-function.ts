import { codecOf, type JsonValue } from '@ledger-state/bcs'
import { ADDRESS_LENGTH, ByteWriter, isLedgerStateError } from '@ledger-state/core'
import { isStructTag, type TypeTag } from '@ledger-state/type-tag'
import type { Asset } from '../balances/asset.js'
import { viewArgumentInvalid, viewNotServed } from '../errors.js'
import type { StoredValue } from '../types/stored-value.js'

/** An argument as a client sends it. */
export type ViewArgument =
  | { readonly kind: 'json'; readonly value: JsonValue }
  | { readonly kind: 'bcs'; readonly bytes: Uint8Array }

/** A call of a view function. */
export interface ViewRequest {
  /** With a short address: `0x1::coin::balance`. */
  readonly function: string
  readonly typeArguments: readonly TypeTag[]
  readonly arguments: readonly ViewArgument[]
}

/** What a view asks of the state. */
export interface BalanceQuestion {
  readonly owner: Uint8Array
  readonly asset: Asset
}

/** The view functions that are plain reads of state. All others need an interpreter of Move. */
const VIEWS: Readonly<Record<string, { readonly arguments: number; question(request: ViewRequest): BalanceQuestion }>> =
  {
    /** `balance<CoinType>(owner: address): u64`: the coin store, and the primary store of the paired asset. */
    '0x1::coin::balance': {
      arguments: 1,
      question({ typeArguments, arguments: [owner] }) {
        const coin = typeArguments[0]!
        if (!isStructTag(coin)) throw viewArgumentInvalid('type argument 0 is no struct')
        return { owner: readAddress(owner!, 0), asset: { kind: 'coin', coin } }
      },
    },
    /** `balance<T: key>(account: address, metadata: Object<T>): u64`: the primary store alone. */
    '0x1::primary_fungible_store::balance': {
      arguments: 2,
      question({ arguments: [account, metadata] }) {
        return {
          owner: readAddress(account!, 0),
          asset: { kind: 'fungibleAsset', metadata: readAddress(metadata!, 1) },
        }
      },
    },
  }

/** The names of the view functions that `callView` serves. */
export const SERVED_VIEWS: readonly string[] = Object.keys(VIEWS)

/** @throws `view_not_served`; `invalid_value` where arguments do not fit */
export function readViewRequest(request: ViewRequest): BalanceQuestion {
  if (!Object.hasOwn(VIEWS, request.function)) throw viewNotServed(request.function, SERVED_VIEWS)
  const view = VIEWS[request.function]!
  expectCount('type arguments', request.typeArguments.length, 1)
  expectCount('arguments', request.arguments.length, view.arguments)
  return view.question(request)
}

function expectCount(what: string, found: number, expected: number): void {
  if (found !== expected) throw viewArgumentInvalid(`${found} ${what}, expected ${expected}`)
}

/** An address or an object, which have the same bytes and the same forms in JSON. */
function readAddress(argument: ViewArgument, index: number): Uint8Array {
  if (argument.kind === 'json') {
    try {
      return codecOf({ kind: typeof argument.value === 'string' ? 'address' : 'object' }).jsonToBytes(argument.value)
    } catch (error) {
      if (!isLedgerStateError(error, 'invalid_value')) throw error
      throw viewArgumentInvalid(`argument ${index}: ${error.message}`)
    }
  }
  if (argument.bytes.length === ADDRESS_LENGTH) return argument.bytes
  throw viewArgumentInvalid(`argument ${index} has ${argument.bytes.length} bytes, an address has ${ADDRESS_LENGTH}`)
}

export function u64Value(value: bigint): StoredValue {
  const json = `"${value}"`
  return {
    bytes: new ByteWriter().u64(value).toBytes(),
    toJson: () => json,
    toJsonUtf8: () => new TextEncoder().encode(json),
  }
}
