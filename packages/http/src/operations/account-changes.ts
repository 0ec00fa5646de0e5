import { addressToShortHex, bytesToHex, parseAddress, type Steps } from '@ledger-state/core'
import {
  type AccountChange,
  isUnreadable,
  lastVersionOf,
  listAccountChangesInSteps,
  type Resource,
} from '@ledger-state/ledger'
import { invalidRequest } from '../errors.js'
import { errorToJson } from '../formats/history-formats.js'
import { inForm } from '../formats/page-body.js'
import {
  TRANSACTION_SCHEMA,
  type TransactionOf,
  transactionMember,
  transactionsOf,
} from '../formats/transaction-formats.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { ADDRESS_PARAMETER, parseAccountAddress } from './parts/account-parts.js'
import {
  DEFAULT_PAGE,
  expectOrdered,
  FROM_PARAMETER,
  MAX_PAGE,
  parseRange,
  TO_PARAMETER,
} from './parts/history-page.js'
import { type Operation, STATE_ERRORS } from './parts/operation.js'
import { openJsonTexts } from './parts/page-bodies.js'
import { listCursor, parsePageStart, pinPage } from './parts/page-start.js'
import {
  limitParameter,
  pageLimit,
  parseLimit,
  parseStateKeyPlace,
  readListing,
  START_PARAMETER,
} from './parts/paging.js'
import { parameterOf } from './parts/request-parts.js'

/** Most assets; each costs a hash and a look-up at both versions. */
const MOST_ASSETS = 32

export const getAccountChanges: Operation = {
  id: 'get_account_changes',
  method: 'GET',
  path: '/v1/accounts/{address}/changes',
  negotiates: false,
  takesTurns: true,
  tag: 'Histories',
  summary: 'Get changes of an account',
  description:
    'Lists the resources and modules that differ between two versions, with their values before and after; null if they are absent. It compares the account, and its primary stores for the asset of the chain and for its coins. If a value cannot be read, `before_error` or `after_error` has the error instead. A page may be empty and have a cursor, because most of an account is the same at both versions.',
  parameters: [
    ADDRESS_PARAMETER,
    FROM_PARAMETER,
    TO_PARAMETER,
    {
      name: 'assets',
      in: 'query',
      description: `Further fungible assets whose primary stores count: addresses of their metadata, separated by commas, up to ${MOST_ASSETS}.`,
      schema: { type: 'string' },
    },
    START_PARAMETER,
    limitParameter(DEFAULT_PAGE, MAX_PAGE),
  ],
  success: {
    json: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          type: { type: 'string', description: 'Of a resource: its struct tag.' },
          module: { type: 'string', description: 'Of a module: its name.' },
          address: { type: 'string', description: 'Where it is stored, if that is a primary store of the account.' },
          asset: { type: 'string', description: 'Asset in that store: the address of a fungible asset.' },
          before: { type: ['object', 'string', 'null'] },
          after: { type: ['object', 'string', 'null'] },
          before_error: { $ref: '#/components/schemas/Error' },
          after_error: { $ref: '#/components/schemas/Error' },
          last_write: {
            type: 'object',
            description:
              'If the store keeps transactions: the newest write of the resource, module or resource group. Absent if it was deleted.',
            required: ['version'],
            properties: { version: { $ref: '#/components/schemas/U64' }, transaction: TRANSACTION_SCHEMA },
          },
        },
      },
    },
  },
  isPaged: true,
  errors: STATE_ERRORS,
  async handle(request) {
    const address = parseAccountAddress(request)
    const range = parseRange(request.query)
    const { from, to } = range
    const assets = parameterOf(request.query, 'assets', parseAssets)
    const start = parsePageStart(request.query, parseStateKeyPlace)
    const askedLimit = parseLimit(request.query)
    request.expectOutput('json', 'Get changes of an account')
    const state = pinPage(request, to, start)
    const limit = pageLimit(askedLimit, DEFAULT_PAGE, MAX_PAGE)
    const first = from === undefined ? state.ledger.oldestVersion : lastVersionOf(request.ledger, from)
    expectOrdered(range, first, state.version)
    const transactionOf = transactionsOf(state)
    const page = await readListing(
      request,
      (options) => listAccountChangesInSteps(state, address, first, { ...options, start: start?.place, limit, assets }),
      inForm((change: AccountChange) => changeToJson(change, transactionOf), openJsonTexts(request.openBody())),
    )
    return {
      ledger: state.ledger,
      contentType: CONTENT_TYPE.json,
      body: page.body,
      cursor: listCursor(page.cursor, state),
    }
  },
}

/**
 * Parses a list of assets.
 * @throws `invalid_input`
 */
function parseAssets(text: string): readonly Uint8Array[] {
  const assets = text.split(',')
  if (assets.length > MOST_ASSETS) throw invalidRequest.tooManyAssets(assets.length, MOST_ASSETS)
  return assets.map((asset) => parseAddress(asset))
}

/** Members about the last write of a change, after a comma; empty if it is not known. */
function lastWriteToJson({ version }: AccountChange, transactionOf: TransactionOf): string {
  if (!transactionOf || version === undefined) return ''
  return `,"last_write":{"version":"${version}"${transactionMember(transactionOf(version))}}`
}

function* changeToJson(change: AccountChange, transactionOf: TransactionOf): Steps<string> {
  const lastWrite = lastWriteToJson(change, transactionOf)
  if (change.kind === 'module') {
    const [before, after] = [change.before, change.after].map((one) => (one ? `"${bytesToHex(one.bytes)}"` : 'null'))
    return `{"module":${JSON.stringify(change.name)},"before":${before},"after":${after}${lastWrite}}`
  }
  const type = (change.before ?? change.after)!.typeText()
  const place = change.store
    ? `"address":"${addressToShortHex(change.store.address)}","asset":"${addressToShortHex(change.store.asset)}",`
    : ''
  const before = yield* sideToJson('before', change.before)
  const after = yield* sideToJson('after', change.after)
  return `{"type":${JSON.stringify(type)},${place}${before},${after}${lastWrite}}`
}

/** One side of a change. A value that cannot be read at its version is replaced by the error of the read. */
function* sideToJson(side: 'before' | 'after', resource: Resource | undefined): Steps<string> {
  try {
    return `"${side}":${resource ? yield* resource.toJsonInSteps() : 'null'}`
  } catch (error) {
    if (isUnreadable(error)) return `"${side}_error":${errorToJson(error)}`
    throw error
  }
}
