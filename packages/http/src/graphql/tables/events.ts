import { addressToLongHex, clip, isLedgerStateError, U64_MAX } from '@ledger-state/core'
import {
  type DecodedEvent,
  eventsAtVersion,
  eventsOfType,
  hasWholeTransactions,
  type LedgerState,
  streamEvents,
} from '@ledger-state/ledger'
import { parseTypeTag, type TypeTag, typeTagToText } from '@ledger-state/type-tag'
import { address, addressOf, bigint, json, text, timeOfVersion } from '../columns.js'
import { allowedTexts } from '../conditions.js'
import { faultOfField } from '../graphql-fault.js'
import type { Rows, Table } from '../table.js'
import { rowsOfEach } from './pages.js'

/** The public indexer cuts `indexed_type` off there. */
const LONGEST_INDEXED_TYPE = 300
const NO_ACCOUNT = new Uint8Array(32)
const ALL = Number.MAX_SAFE_INTEGER

/** Events of the transactions that the store keeps. Module events have the account 0x0 and the creation number 0. */
export const EVENTS: Table<DecodedEvent> = {
  name: 'events',
  needs: 'type, indexed_type, transaction_version or account_address',
  hasAggregate: false,
  columns: {
    account_address: address(({ event }) => event.key?.address ?? NO_ACCOUNT),
    creation_number: bigint(({ event }) => event.key?.creationNumber ?? 0n),
    data: json((row) => row.dataToJson()),
    event_index: bigint(({ index }) => BigInt(index)),
    indexed_type: { ...text<DecodedEvent>((row) => textOf(row).slice(0, LONGEST_INDEXED_TYPE)), normalize: typeText },
    sequence_number: bigint(({ event }) => event.key?.sequenceNumber ?? 0n),
    transaction_block_height: bigint(({ version }, { state }) => heightOf(state, version)),
    transaction_timestamp: timeOfVersion((row) => row.version),
    transaction_version: bigint((row) => row.version),
    type: { ...text(textOf), normalize: typeText },
  },
  sizeOf: ({ bytes }) => 2 * bytes.length,
  find({ state }, condition, order) {
    const types = allowedTexts(condition, 'indexed_type') ?? allowedTexts(condition, 'type')
    const versions = allowedTexts(condition, 'transaction_version')
    const accounts = allowedTexts(condition, 'account_address')
    const numbers = allowedTexts(condition, 'creation_number')
    if (!types && !versions && !accounts) return undefined
    if (!hasWholeTransactions(state)) {
      throw faultOfField('events', 'the store keeps no transactions, and so no events')
    }
    if (versions) return rowsOfEach(u64sOf(versions), (version) => eventsAtVersion(state, version))
    if (types) return rowsOfEach(new Set(types.map(typeOf)), (type) => eventsInOrder(state, type, order))
    if (!numbers) throw faultOfField('events', 'its filter must also name creation_number, with _eq or _in')
    if (accounts!.includes(addressToLongHex(NO_ACCOUNT)) && numbers.includes('0'))
      throw faultOfField(
        'events',
        'module events, which have the account 0x0, are found by type or transaction_version',
      )
    return rowsOfEach(accounts!.map(addressOf), (account) =>
      rowsOfEach(u64sOf(numbers), (number) => streamOf(state, account, number)),
    )
  },
  // The events of one type are read in either direction, without sorting all of them.
  orderedBy(condition) {
    const types = allowedTexts(condition, 'indexed_type') ?? allowedTexts(condition, 'type')
    const isOfType = types?.length === 1 && !allowedTexts(condition, 'transaction_version')
    return isOfType ? 'transaction_version' : undefined
  },
}

/** The numbers of a filter, each once; undefined for one that is no u64, so that no row has it. */
function u64sOf(texts: readonly string[]): (bigint | undefined)[] {
  return [...new Set(texts)].map((text) => {
    const number = BigInt(text)
    return number >= 0n && number <= U64_MAX ? number : undefined
  })
}

function streamOf(state: LedgerState, account: Uint8Array, creationNumber: bigint): Rows<DecodedEvent> {
  return streamEvents(state, { address: account, creationNumber }, { limit: ALL })
}

function eventsInOrder(state: LedgerState, type: TypeTag, order: 'asc' | 'desc'): Rows<DecodedEvent> {
  return eventsOfType(state, type, { order, limit: ALL })
}

function textOf({ event }: DecodedEvent): string {
  return typeTagToText(event.type)
}

/** A type as a filter names it; undefined if it is none, so that no row has it. */
function typeOf(given: string): TypeTag | undefined {
  try {
    return parseTypeTag(given)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_type_tag')) return undefined
    throw error
  }
}

function typeText(given: string): string {
  const type = typeOf(given)
  return type ? typeTagToText(type) : clip(given)
}

/** Height of the block of a version; undefined once that is pruned. */
function heightOf({ source, ledger }: LedgerState, version: bigint): bigint | undefined {
  return version < ledger.oldestVersion ? undefined : source.reader.blockAt(version).block.height
}
