import { bytesToHexDigits } from '@ledger-state/core'
import type { LedgerState, Listing, ListOptions } from '@ledger-state/ledger'
import type { AnswerBytes } from '../../admission/answer-bytes.js'
import { inForm, type SteppedBody } from '../../formats/page-body.js'
import { chooseFormat } from '../../protocol/accept.js'
import { CONTENT_TYPE } from '../../protocol/media-types.js'
import { ADDRESS_PARAMETER, parseAccountAddress } from './account-parts.js'
import { type Operation, STATE_ERRORS, STATE_PARAMETERS } from './operation.js'
import { BcsMapBody, type BcsMapEntry } from './page-bodies.js'
import { limitParameter, pageLimit, parseLimit, parseStateKeyStart, readListing, START_PARAMETER } from './paging.js'
import { parseAskedState } from './request-parts.js'
import { inOneStep } from './turn-budget.js'

/** Most state keys of a page; a resource group counts as one, however many members it has. */
export const MAX_ACCOUNT_PAGE = 9_999

/** Parts in which the listings of an account differ. */
export interface AccountListing<T> extends Pick<Operation, 'id' | 'path' | 'summary' | 'description'> {
  /** Name of the schema of an item. */
  readonly schema: string
  /** Undefined is a chance to pause. */
  list(state: LedgerState, address: Uint8Array, options: ListOptions): Listing<T | undefined>
  /** Opens the JSON of a page. */
  openJson(out: AnswerBytes): SteppedBody<T>
  toEntry(item: T): BcsMapEntry
}

/** Creates an operation that lists items of an account, in pages: a JSON array, or a map in BCS. */
export function createAccountListing<T>(listing: AccountListing<T>): Operation {
  const { id, path, summary, description, schema, list, openJson, toEntry } = listing
  return {
    id,
    method: 'GET',
    path,
    negotiates: true,
    takesTurns: true,
    tag: 'Accounts',
    summary,
    description,
    parameters: [
      ADDRESS_PARAMETER,
      ...STATE_PARAMETERS,
      START_PARAMETER,
      limitParameter(MAX_ACCOUNT_PAGE, MAX_ACCOUNT_PAGE),
    ],
    success: {
      json: { type: 'array', items: { $ref: `#/components/schemas/${schema}` } },
      bcs: { $ref: '#/components/schemas/Bytes' },
    },
    isPaged: true,
    errors: STATE_ERRORS,
    async handle(request) {
      const format = chooseFormat(request.accept, 'json')
      const address = parseAccountAddress(request)
      const asked = parseAskedState(request.query)
      const start = parseStateKeyStart(request.query)
      const askedLimit = parseLimit(request.query)
      request.expectOutput(format, summary)
      const state = request.pin(asked)
      const limit = pageLimit(askedLimit, MAX_ACCOUNT_PAGE, MAX_ACCOUNT_PAGE)
      const page = (options: Pick<ListOptions, 'isFull'>) => list(state, address, { ...options, start, limit })
      const { cursor, body } =
        format === 'json'
          ? await readListing(request, page, openJson(request.openBody()))
          : await readListing(request, page, inForm(inOneStep(toEntry), new BcsMapBody(request)))
      return {
        ledger: state.ledger,
        contentType: CONTENT_TYPE[format],
        body,
        cursor: cursor && bytesToHexDigits(cursor),
      }
    },
  }
}
