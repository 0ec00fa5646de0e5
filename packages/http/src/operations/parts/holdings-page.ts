import { hexToBytes, type Steps } from '@ledger-state/core'
import type { Asset, HoldingsPage, HoldingsPageOptions, LedgerState } from '@ledger-state/ledger'
import type { AnswerBytes } from '../../admission/answer-bytes.js'
import { invalidRequest } from '../../errors.js'
import { CsvBody, type ItemFormat } from '../../formats/holding-formats.js'
import type { JsonSchema } from '../../formats/json-schema.js'
import { inForm, type PageBody } from '../../formats/page-body.js'
import { prefersCsv } from '../../protocol/accept.js'
import { CONTENT_TYPE } from '../../protocol/media-types.js'
import { DEFAULT_PAGE, MAX_PAGE } from './history-page.js'
import type { Answer, OperationRequest, Parameter } from './operation.js'
import { openJsonTexts } from './page-bodies.js'
import { listCursor, type PageStart, parsePageStart } from './page-start.js'
import { MAX_PAGE_BYTES, pageLimit, parseLimit } from './paging.js'
import { parameterOf } from './request-parts.js'
import { inOneStep, writeInTurns } from './turn-budget.js'

/** Longest cursor of a page of holdings: the name of a coin type, and the byte for its kind. */
const MOST_CURSOR_BYTES = 4_097
/** Heap of a store that a page sorts, and of a time of holding that it merges. */
const BYTES_OF_STEP = 512
/** Most of these that a page keeps. */
const MOST_STEPS_KEPT = 20_000

export const ASSET_PARAMETER: Parameter = {
  name: 'asset_type',
  in: 'query',
  description: 'Only this asset: a coin type, or the metadata address of a fungible asset.',
  schema: { $ref: '#/components/schemas/AssetType' },
}

export const METADATA_PARAMETER: Parameter = {
  name: 'with_metadata',
  in: 'query',
  description: 'With `true` each item has `metadata`: name, symbol and decimals of its asset.',
  schema: { type: 'boolean' },
}

/** The answer of an operation that lists holdings. */
export function listSuccess(schema: JsonSchema, columns: readonly string[]) {
  return {
    json: { type: 'array', items: schema },
    csv: { type: 'string', description: `The columns ${columns.join(', ')}.` },
  } as const
}

/** Parses a parameter that is `true` or `false`; false if the query has none. */
export function parseSwitch(query: string, name: string): boolean {
  const parse = (text: string): boolean => {
    if (text !== 'true' && text !== 'false') throw invalidRequest.notABoolean(text)
    return text === 'true'
  }
  return parameterOf(query, name, parse) ?? false
}

export function parseAssetQuery({ ledger, query }: OperationRequest): Asset | undefined {
  return parameterOf(query, 'asset_type', (text) => ledger.parseAsset(text))
}

/** The page of a list that a query asks for. */
export interface AskedPage {
  readonly start: PageStart<Uint8Array> | undefined
  /** Undefined if the query has none. */
  readonly limit: number | undefined
}

export function parseAskedPage(query: string): AskedPage {
  return { start: parsePageStart(query, parseListPlace), limit: parseLimit(query) }
}

/** Parses the place where a page of a list begins, in hex without 0x. */
function parseListPlace(text: string): Uint8Array {
  if (text.startsWith('0x')) throw invalidRequest.cursorWith0x()
  const place = hexToBytes(text)
  if (place.length > MOST_CURSOR_BYTES) throw invalidRequest.cursorTooLong(MOST_CURSOR_BYTES)
  return place
}

/** The body of a page of a list. */
export interface ListBody<T> {
  /** Bytes written so far. */
  readonly length: number
  readonly contentType: string
  /**
   * Writes a page in turns of the event loop.
   * @param keepsSteps whether steps without an item keep something until the page is complete: their memory is counted
   */
  write(page: Iterable<T | undefined>, keepsSteps: boolean): Promise<AnswerBytes>
}

/** The body of a page: CSV if the client prefers it, and JSON otherwise. */
export function openListBody<T>(request: OperationRequest, format: ItemFormat<T>): ListBody<T> {
  const { inSteps, columns } = format
  const out = request.openBody()
  if (prefersCsv(request.accept)) {
    const toCells = inSteps?.toCells ?? inOneStep((item: T) => format.toCells(item))
    return listBody(request, CONTENT_TYPE.csv, toCells, new CsvBody(out, columns))
  }
  const toJson = inSteps?.toJson ?? inOneStep((item: T) => format.toJson(item))
  return listBody(request, CONTENT_TYPE.json, toJson, openJsonTexts(out))
}

function listBody<T, F>(
  request: OperationRequest,
  contentType: string,
  toForm: (item: T) => Steps<F>,
  body: PageBody<F>,
): ListBody<T> {
  return {
    get length() {
      return body.length
    },
    contentType,
    async write(page, keepsSteps) {
      await writeInTurns(request, keepsSteps ? counted(request, page) : page, inForm(toForm, body))
      return body.end()
    },
  }
}

function* counted<T>(request: OperationRequest, page: Iterable<T | undefined>): Generator<T | undefined> {
  let kept = 0
  for (const item of page) {
    if (item === undefined && kept++ < MOST_STEPS_KEPT) request.hold(BYTES_OF_STEP)
    yield item
  }
}

/**
 * Answers with a page of a list.
 * @param keepsSteps whether the list keeps its steps without an item until the page is complete
 */
export async function answerPage<T>(
  request: OperationRequest,
  state: LedgerState,
  asked: AskedPage,
  format: ItemFormat<T>,
  list: (options: HoldingsPageOptions) => HoldingsPage<T>,
  keepsSteps = false,
): Promise<Answer> {
  const limit = pageLimit(asked.limit, DEFAULT_PAGE, MAX_PAGE)
  const body = openListBody(request, format)
  const isFull = (): boolean => body.length >= MAX_PAGE_BYTES
  const page = list({ start: asked.start?.place, limit, isFull })
  const written = await body.write(page, keepsSteps)
  const cursor = listCursor(page.cursor, state)
  return { ledger: state.ledger, contentType: body.contentType, body: written, cursor }
}
