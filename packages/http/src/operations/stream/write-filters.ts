import { ByteWriter } from '@ledger-state/core'
import { beginsWith, compareBytes } from '@ledger-state/core/bytes'
import {
  type Asset,
  type LedgerState,
  resourceWriteToJson,
  type TableTypes,
  type WrittenValue,
  writeToJson,
} from '@ledger-state/ledger'
import { addressIn, coinTypeIn, isObjectKey, readCoinStore, readHeldObject } from '@ledger-state/records'
import { accountKeyPrefix, type StructTag, type TypeTag, tableKeyPrefix, writeTypeTag } from '@ledger-state/type-tag'
import { heldChangeToJson } from '../../formats/holding-formats.js'

/** Selects writes, and prints the changes that they make. */
export interface WriteFilter {
  /** Whether a write of the key may make a change that is shown. */
  selects(key: Uint8Array): boolean
  /**
   * The changes that a selected write makes, as JSON. Undefined is a chance to pause.
   * @param before the state before the version of the write
   */
  changesOf(state: LedgerState, before: LedgerState, write: WrittenValue): Iterable<string | undefined>
}

export const EVERY_WRITE: WriteFilter = {
  selects: () => true,
  changesOf: (state, _before, write) => changesOfWrite(state, write),
}

/** The writes of resources and modules at an address. */
export function writesOfAccount(address: Uint8Array): WriteFilter {
  const prefix = accountKeyPrefix(address)
  return { ...EVERY_WRITE, selects: (key) => beginsWith(key, prefix) }
}

/** The writes of the items of a table, decoded if their types are given. */
export function writesOfTable(handle: Uint8Array, types: TableTypes): WriteFilter {
  const prefix = tableKeyPrefix(handle)
  return {
    selects: (key) => beginsWith(key, prefix),
    changesOf: (state, _before, write) => changesOfWrite(state, write, types),
  }
}

function* changesOfWrite(
  state: LedgerState,
  write: WrittenValue,
  types?: TableTypes,
): Generator<string | undefined, void> {
  yield* yield* writeToJson(state, write, types)
}

/** The changes of resources of a type, at one address or any. */
export function writesOfResource(tag: StructTag, address: Uint8Array | undefined): WriteFilter {
  const prefix = address ? accountKeyPrefix(address) : Uint8Array.of(0)
  return {
    selects: (key) => beginsWith(key, prefix),
    *changesOf(state, before, write) {
      const json = yield* resourceWriteToJson(state, before, tag, write)
      if (json !== undefined) yield json
    },
  }
}

/** The changes of the holdings of an asset's holders. */
export function changesOfHolders(asset: Asset): WriteFilter {
  return asset.kind === 'coin' ? changesOfCoin(asset.coin) : changesOfFungibleAsset(asset.metadata)
}

function changesOfCoin(coin: TypeTag): WriteFilter {
  const writer = new ByteWriter()
  writeTypeTag(writer, coin)
  const bytes = writer.toBytes()
  const amountIn = (stored: Uint8Array | null | undefined): bigint => (stored && readCoinStore(stored)?.amount) || 0n
  return {
    selects(key) {
      const found = coinTypeIn(key)
      return found !== undefined && compareBytes(found, bytes) === 0
    },
    changesOf(_state, { storedView }, { key, value }) {
      const [before, after] = [amountIn(storedView.get(key)), amountIn(value)]
      if (before === after) return []
      const owner = addressIn(key)
      return [heldChangeToJson({ standard: 'v1', coin }, owner, { storage: owner, before, after })]
    },
  }
}

function changesOfFungibleAsset(metadata: Uint8Array): WriteFilter {
  const heldIn = (stored: Uint8Array | null | undefined) => {
    // Most groups are of something else, and this search takes 0.08 µs instead of 0.4, of a group of 0.9 MB 7 µs
    // instead of 2.7 ms.
    if (!stored || Buffer.prototype.indexOf.call(stored, metadata) < 0) return undefined
    const object = readHeldObject(stored)
    if (!object?.store || compareBytes(object.store.asset, metadata) !== 0) return undefined
    return { owner: object.owner, amount: object.store.amount }
  }
  return {
    selects: isObjectKey,
    *changesOf(_state, { storedView }, { key, value }) {
      const had = heldIn(storedView.get(key))
      // A group may have 20,000 members.
      yield undefined
      const has = heldIn(value)
      const storage = addressIn(key)
      const change = (owner: Uint8Array, before: bigint, after: bigint): readonly string[] =>
        before === after ? [] : [heldChangeToJson({ standard: 'v2', metadata }, owner, { storage, before, after })]
      if (had && has && compareBytes(had.owner, has.owner) === 0) {
        yield* change(has.owner, had.amount, has.amount)
        return
      }
      if (had) yield* change(had.owner, had.amount, 0n)
      if (has) yield* change(has.owner, 0n, has.amount)
    },
  }
}
