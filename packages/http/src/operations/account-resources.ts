import { ByteWriter, bytesToHexDigits } from '@ledger-state/core'
import type { Resource } from '@ledger-state/ledger'
import { writeStructTag } from '@ledger-state/type-tag'
import { chooseFormat } from '../protocol/accept.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { ADDRESS_PARAMETER, parseAccountAddress } from './account-parts.js'
import { type Operation, STATE_ERRORS, STATE_PARAMETERS } from './operation.js'
import { BcsMapBody, type BcsMapEntry, JsonArrayBody } from './page-bodies.js'
import { limitParameter, pageLimit, parseLimit, parseStateKeyStart, readListing, START_PARAMETER } from './paging.js'
import { parseAskedState } from './request-parts.js'
import { resourceToJson } from './resource-formats.js'

/** State keys: a resource group is one, however many members it has. */
export const MAX_ACCOUNT_PAGE = 9_999

export const getAccountResources: Operation = {
  id: 'get_account_resources',
  method: 'GET',
  path: '/v1/accounts/{address}/resources',
  negotiates: true,
  tag: 'Accounts',
  summary: 'Get account resources',
  description:
    'Lists the resources of an account, members of resource groups among them, in pages. An account that holds nothing has none. A group counts once towards `limit`. In BCS: a map of struct tags to stored bytes.',
  parameters: [
    ADDRESS_PARAMETER,
    ...STATE_PARAMETERS,
    START_PARAMETER,
    limitParameter(MAX_ACCOUNT_PAGE, MAX_ACCOUNT_PAGE),
  ],
  success: {
    json: { type: 'array', items: { $ref: '#/components/schemas/Resource' } },
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
    request.expectOutput(format, 'Get account resources')
    const state = request.pin(asked)
    const limit = pageLimit(askedLimit, MAX_ACCOUNT_PAGE, MAX_ACCOUNT_PAGE)
    const body = format === 'json' ? new JsonArrayBody(resourceToJson) : new BcsMapBody(resourceToEntry)
    const cursor = await readListing(
      request,
      (options) => state.listResources(address, { ...options, start, limit }),
      body,
    )
    return {
      ledger: state.ledger,
      contentType: CONTENT_TYPE[format],
      body: body.toBytes(),
      cursor: cursor && bytesToHexDigits(cursor),
    }
  },
}

function resourceToEntry({ tag, bytes }: Resource): BcsMapEntry {
  const writer = new ByteWriter()
  writeStructTag(writer, tag)
  return { key: writer.toBytes(), value: bytes }
}
