import { noSteps } from '@ledger-state/core'
import type { Change, ChangeHistoryOptions, History, LedgerState } from '@ledger-state/ledger'
import { ChangesCsvBody, changePrinter, SampledBody } from '../../formats/history-formats.js'
import type { PrintItem } from '../../formats/item-text.js'
import type { JsonSchema } from '../../formats/json-schema.js'
import { inForm } from '../../formats/page-body.js'
import { TRANSACTION_SCHEMA, type TransactionOf, transactionsOf } from '../../formats/transaction-formats.js'
import { prefersCsv } from '../../protocol/accept.js'
import { CONTENT_TYPE } from '../../protocol/media-types.js'
import { HISTORY_PARAMETERS, POINTS_PARAMETER, parseHistoryQuery, parsePoints, readHistory } from './history-page.js'
import { BODY_ERRORS, type Operation, type OperationRequest, type Parameter, STATE_ERRORS } from './operation.js'
import { PrintedArrayBody } from './page-bodies.js'
import { TurnBudget } from './turn-budget.js'

const PAGES =
  'A value that cannot be read has an `error` instead. Newest first, or `order=asc`; in pages. A value written before the window has the version that wrote it, without a time.'

type OpenHistory<T> = (state: LedgerState, options: ChangeHistoryOptions) => History<Change<T>>

/** Parts in which histories of different kinds differ. */
export interface HistoryKind<T> extends Pick<Operation, 'id' | 'path' | 'summary' | 'description' | 'requestBody'> {
  /** Parameters that name the subject. */
  readonly subject: readonly Parameter[]
  /** Member of a change that has the value, and its schema. */
  readonly member: string
  readonly schema: JsonSchema
  readonly csv?: { readonly column: string; toText(value: T): string }
  /** Number of a value that a curve shows. */
  readonly measure?: (value: T) => bigint
  /** Reads the subject, before the range. The returned function is called when the rest of the request is read. */
  parse(request: OperationRequest): () => OpenHistory<T>
  /** Prints a value. @throws if it cannot be read */
  readonly print: PrintItem<T>
}

/** Creates an operation that lists the changes of a subject, in pages; a POST if the request has a body. */
export function createHistoryOperation<T>(kind: HistoryKind<T>): Operation {
  const { id, path, summary, description, requestBody, subject, member, schema, csv, measure } = kind
  return {
    id,
    method: requestBody ? 'POST' : 'GET',
    path,
    negotiates: csv !== undefined,
    takesTurns: true,
    tag: 'Histories',
    summary,
    description: `${description} ${PAGES}`,
    parameters: [...subject, ...HISTORY_PARAMETERS, ...(measure ? [POINTS_PARAMETER] : [])],
    ...(requestBody && { requestBody }),
    success: {
      json: changesOf({ [member]: schema }),
      ...(csv && { csv: changesCsvOf(csv.column) }),
    },
    isPaged: true,
    tellsCompleteness: true,
    errors: requestBody ? BODY_ERRORS : STATE_ERRORS,
    async handle(request) {
      const asCsv = prefersCsv(request.accept) ? csv : undefined
      const subjectOf = kind.parse(request)
      const range = { ...parseHistoryQuery(request.query), points: measure && parsePoints(request.query) }
      request.expectOutput('json', summary)
      const open = subjectOf()
      const openJson = (transactionOf: TransactionOf) =>
        new PrintedArrayBody(request.openBody(), changePrinter(member, kind.print, transactionOf))
      const openCsv = ({ column, toText }: NonNullable<typeof csv>, transactionOf: TransactionOf) =>
        new ChangesCsvBody<T>(request.openBody(), column, toText, transactionOf)
      const page = await readHistory<T>(request, range, open, (state, first, read) => {
        const { points } = range
        if (measure && points !== undefined) {
          // A curve is written at once, and the transaction of each change would take a look-up.
          const body = asCsv ? openCsv(asCsv, undefined) : openJson(undefined)
          const curve = { first, last: state.version, points }
          return read(inForm(noSteps, new SampledBody(body, measure, curve, new TurnBudget(request))))
        }
        const transactionOf = transactionsOf(state)
        return read(asCsv ? inForm(noSteps, openCsv(asCsv, transactionOf)) : openJson(transactionOf))
      })
      return { ...page, contentType: CONTENT_TYPE[asCsv ? 'csv' : 'json'] }
    },
  }
}

/** Schema of a page of changes, whose values are in these members. */
export function changesOf(members: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return {
    type: 'array',
    items: {
      type: 'object',
      required: ['version', 'timestamp'],
      properties: {
        version: { $ref: '#/components/schemas/U64' },
        timestamp: {
          oneOf: [{ $ref: '#/components/schemas/U64' }, { type: 'null' }],
          description: 'Microseconds since 1970; null if the version is below the window.',
        },
        ...members,
        error: { $ref: '#/components/schemas/Error' },
        transaction: TRANSACTION_SCHEMA,
      },
    },
  }
}

/** Schema of a page of changes as CSV, whose values are in these columns. */
export function changesCsvOf(columns: string): JsonSchema {
  return {
    type: 'string',
    description: `The columns version, timestamp (microseconds), time (ISO 8601, UTC), ${columns} and error; where the store keeps transactions also transaction (its hash), sender, function and success.`,
  }
}
