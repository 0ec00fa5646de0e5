import { hexToBytes, isLedgerStateError, parseU64, type Steps } from '@ledger-state/core'
import {
  hasWholeTransactions,
  type LedgerState,
  type LedgerTransaction,
  wholeTransactionAt,
} from '@ledger-state/ledger'
import type { AnswerBytes } from '../../admission/answer-bytes.js'
import { invalidParameter, invalidRequest, operationNotServed, transactionNotKept } from '../../errors.js'
import { inForm } from '../../formats/page-body.js'
import { CONTENT_TYPE, type OutputFormat } from '../../protocol/media-types.js'
import { decodePercent, queryParameter } from '../../protocol/query.js'
import type { Answer, Operation, OperationRequest, Parameter } from './operation.js'
import { BcsVectorBody, openJsonTexts } from './page-bodies.js'
import { U16_MAX } from './paging.js'
import { inOneStep, writeInTurns } from './turn-budget.js'
import { unservedReason } from './unserved.js'

/** Transactions or events of a page, by default and at most. */
export const DEFAULT_ITEMS = 25
export const MOST_ITEMS = 100

export const START_VERSION_PARAMETER: Parameter = {
  name: 'start',
  in: 'query',
  description: 'The first version; by default the first version of the last page.',
  schema: { $ref: '#/components/schemas/U64' },
}

export const START_NUMBER_PARAMETER: Parameter = {
  name: 'start',
  in: 'query',
  description: 'The first sequence number; by default the first one of the last page.',
  schema: { $ref: '#/components/schemas/U64' },
}

export const HASH_PARAMETER: Parameter = {
  name: 'txn_hash',
  in: 'path',
  description: 'The hash of the transaction, with or without 0x.',
  schema: { $ref: '#/components/schemas/HexEncodedBytes' },
}

const HASH_TEXT = /^(?:0x)?([0-9a-fA-F]{64})$/

/** Parses the hash of a transaction in the path. */
export function parseHash(text: string): Uint8Array {
  const digits = HASH_TEXT.exec(text)?.[1]
  if (digits === undefined) throw invalidRequest.hashTextInvalid()
  return hexToBytes(digits)
}

/** Parses a u64 in the path, with the texts of the reference. */
export function parseU64Path(name: string, text: string): bigint {
  return parseU64Part(`path \`${name}\``, text)
}

/** Parses a u64 that must be given. @param part as in `invalidPart` */
export function parseU64Part(part: string, text: string): bigint {
  return parseReferenceU64(text, (why) => invalidRequest.u64PartInvalid(part, text, why, false))
}

/** Parses a u64 of the query, with the texts of the reference. */
export function parseU64Query(query: string, name: string): bigint | undefined {
  const text = textOfQuery(query, name)
  if (text === undefined) return undefined
  return parseReferenceU64(text, (why) => invalidRequest.u64PartInvalid(`parameter \`${name}\``, text, why, true))
}

/** Parses the limit of a page, with the texts of the reference; undefined if the query has none. */
export function parseItemLimit(query: string): number | undefined {
  const text = textOfQuery(query, 'limit')
  if (text === undefined) return undefined
  const limit = parseReferenceU64(text, (why) => invalidRequest.u16ParameterInvalid('limit', why))
  if (limit > U16_MAX) throw invalidRequest.u16ParameterInvalid('limit', 'number too large to fit in target type')
  return Number(limit)
}

/** The text of a query parameter; undefined if the query has none. */
export function textOfQuery(query: string, name: string): string | undefined {
  const text = queryParameter(query, name)
  // The reference decodes twice, and clients may rely on it.
  return text === undefined ? undefined : decodePercent(text)
}

const TOO_LARGE = 'number too large to fit in target type'

function parseReferenceU64(text: string, refuse: (why: string) => Error): bigint {
  try {
    return parseU64(text)
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_u64')) throw error
    if (text === '') throw refuse('cannot parse integer from empty string')
    throw refuse(/^\+?\d+$/.test(text) ? TOO_LARGE : 'invalid digit found in string')
  }
}

/** @throws `invalid_parameter` if a page begins above the newest version */
export function expectStart(state: LedgerState, start: bigint): void {
  if (start > state.version) throw invalidParameter.startAboveLatest(start, state.version)
}

/**
 * An operation that is only served if the store keeps whole transactions.
 * @throws (when it is asked) `operation_not_served`, `no_ledger`
 */
export function overWholeTransactions(operation: Operation): Operation {
  return {
    ...operation,
    handle(request) {
      if (!mayKeepWhole(request)) throw operationNotServed(operation.method, operation.path, unservedReason(operation))
      return operation.handle(request)
    },
  }
}

/** Whether a store keeps whole transactions. One that is still empty may: its operations say at their place that it is. */
function mayKeepWhole({ ledger }: OperationRequest): boolean {
  try {
    return hasWholeTransactions(ledger.at())
  } catch (error) {
    if (isLedgerStateError(error, 'no_ledger')) return true
    throw error
  }
}

/** The transaction of a version of the state, which must be kept. @throws `transaction_not_kept` */
export function expectKept(state: LedgerState, version: bigint): LedgerTransaction {
  const transaction = wholeTransactionAt(state, version)
  if (transaction) return transaction
  throw state.source.sliced ? transactionNotKept.notInSlice(version) : transactionNotKept.notGiven(version)
}

/** The transactions of a range of versions, which must all be kept. @throws `transaction_not_kept` */
export function* transactionsBetween(
  state: LedgerState,
  first: bigint,
  last: bigint,
): Generator<LedgerTransaction, void> {
  for (let version = first; version <= last; version++) {
    yield expectKept(state, version)
  }
}

/** Forms of the items of a page, in steps: an item may take long. */
export interface ItemForms<T> {
  toJson(item: T): Steps<string>
  toBcs(item: T): Steps<Uint8Array>
}

/** Forms of items that take one short step. */
export function shortForms<T>(toJson: (item: T) => string, toBcs: (item: T) => Uint8Array): ItemForms<T> {
  return { toJson: inOneStep(toJson), toBcs: inOneStep(toBcs) }
}

export const TRANSACTION_FORMS: ItemForms<LedgerTransaction> = {
  toJson: (transaction) => transaction.toJsonInSteps(),
  toBcs: (transaction) => transaction.toBcsInSteps(),
}

/** Answers with a list of items, which are read in turns of the event loop. Undefined is a chance to pause. */
export async function answerItems<T>(
  request: OperationRequest,
  state: LedgerState,
  format: OutputFormat,
  items: Iterable<T | undefined>,
  forms: ItemForms<T>,
): Promise<Answer> {
  const body = await bodyOfItems(request, request.openBody(), format, items, forms)
  return { ledger: state.ledger, contentType: CONTENT_TYPE[format], body }
}

/**
 * Writes items to a body in turns of the event loop, as an array or a vector. Undefined is a chance to pause.
 * @param out the body, which may have bytes that precede an array
 */
export async function bodyOfItems<T>(
  request: OperationRequest,
  out: AnswerBytes,
  format: OutputFormat,
  items: Iterable<T | undefined>,
  { toJson, toBcs }: ItemForms<T>,
): Promise<AnswerBytes> {
  if (format === 'json') {
    const body = openJsonTexts(out)
    await writeInTurns(request, items, inForm(toJson, body))
    return body.end()
  }
  const body = new BcsVectorBody(out, (bytes: Uint8Array) => bytes)
  await writeInTurns(request, items, inForm(toBcs, body))
  return body.end()
}

/** The greatest version of a page that begins with a version. */
export function lastOfPage(start: bigint, limit: number, latest: bigint): bigint {
  const last = start + BigInt(limit) - 1n
  return last < latest ? last : latest
}
