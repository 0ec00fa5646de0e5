import { hexToBytes, parseU64 } from '@ledger-state/core'
import type { Listing, ListOptions } from '@ledger-state/ledger'
import { decodeStateKey } from '@ledger-state/type-tag'
import type { AnswerBytes } from '../../admission/answer-bytes.js'
import { invalidParameter, invalidRequest } from '../../errors.js'
import type { SteppedBody } from '../../formats/page-body.js'
import type { OperationRequest, Parameter } from './operation.js'
import { parameterOf } from './request-parts.js'
import { writeInTurns } from './turn-budget.js'

export const U16_MAX = 0xffff

/** Bytes of the items of one page, which it holds in memory. A page ends with the item that reaches it. */
export const MAX_PAGE_BYTES = 16 * 1024 * 1024

export function limitParameter(byDefault: number, most: number): Parameter {
  return {
    name: 'limit',
    in: 'query',
    description: `Most items of the page; ${byDefault} when omitted. Above ${most} it counts as ${most}.`,
    schema: { type: 'integer', minimum: 1, maximum: U16_MAX },
  }
}

export const START_PARAMETER: Parameter = {
  name: 'start',
  in: 'query',
  description: 'Where the page begins: the cursor of the previous page. By default the first page.',
  schema: { type: 'string' },
}

/** Parses the limit; undefined if the query has none. 0 is refused only when the limit is used. */
export function parseLimit(query: string): number | undefined {
  return parameterOf(query, 'limit', (text) => {
    const limit = parseU64(text)
    if (limit > U16_MAX) throw invalidRequest.limitInvalid(limit)
    return Number(limit)
  })
}

/**
 * The limit of a page.
 * @throws `invalid_parameter`
 */
export function pageLimit(asked: number | undefined, byDefault: number, most: number): number {
  if (asked === 0) throw invalidParameter.limitZero()
  return Math.min(asked ?? byDefault, most)
}

/** Parses the state key at which a page of a listing begins, in hex without 0x. The key need not exist. */
export function parseStateKeyStart(query: string): Uint8Array | undefined {
  return parameterOf(query, 'start', parseStateKeyPlace)
}

export function parseStateKeyPlace(text: string): Uint8Array {
  if (text.startsWith('0x')) throw invalidRequest.cursorWith0x()
  const key = hexToBytes(text)
  decodeStateKey(key)
  return key
}

/** Reads one page of a listing in turns of the event loop. The page ends before its limit if its items are large. */
export async function readListing<T>(
  request: OperationRequest,
  list: (options: Required<Pick<ListOptions, 'isFull'>>) => Listing<T | undefined>,
  body: SteppedBody<T>,
): Promise<{ readonly body: AnswerBytes; readonly cursor: Uint8Array | undefined }> {
  const listing = list({ isFull: () => body.length >= MAX_PAGE_BYTES })
  await writeInTurns(request, listing, body)
  return { body: await body.end(), cursor: listing.cursor }
}
