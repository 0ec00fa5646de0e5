import { addressToShortHex, ByteWriter, bytesToHexDigits } from '@ledger-state/core'
import type { AccountModule } from '@ledger-state/ledger'
import { chooseFormat } from '../protocol/accept.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { ADDRESS_PARAMETER, parseAccountAddress } from './account-parts.js'
import { MAX_ACCOUNT_PAGE } from './account-resources.js'
import { moduleToJson } from './module-formats.js'
import { type Operation, STATE_ERRORS, STATE_PARAMETERS } from './operation.js'
import { BcsMapBody, type BcsMapEntry, JsonArrayBody } from './page-bodies.js'
import { limitParameter, pageLimit, parseLimit, parseStateKeyStart, readListing, START_PARAMETER } from './paging.js'
import { parseAskedState } from './request-parts.js'

export const getAccountModules: Operation = {
  id: 'get_account_modules',
  method: 'GET',
  path: '/v1/accounts/{address}/modules',
  negotiates: true,
  tag: 'Accounts',
  summary: 'Get account modules',
  description:
    'Lists the modules of an account, with bytecode and ABI, in pages. An account that holds nothing has none. In BCS: a map of names such as `0x1::coin` to bytecode.',
  parameters: [
    ADDRESS_PARAMETER,
    ...STATE_PARAMETERS,
    START_PARAMETER,
    limitParameter(MAX_ACCOUNT_PAGE, MAX_ACCOUNT_PAGE),
  ],
  success: {
    json: { type: 'array', items: { $ref: '#/components/schemas/Module' } },
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
    request.expectOutput(format, 'Get account modules')
    const state = request.pin(asked)
    const limit = pageLimit(askedLimit, MAX_ACCOUNT_PAGE, MAX_ACCOUNT_PAGE)
    const body = format === 'json' ? new JsonArrayBody(moduleToJson) : new BcsMapBody(moduleToEntry)
    const cursor = await readListing(
      request,
      (options) => state.listModules(address, { ...options, start, limit }),
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

function moduleToEntry({ address, name, bytes }: AccountModule): BcsMapEntry {
  return { key: new ByteWriter().string(`${addressToShortHex(address)}::${name}`).toBytes(), value: bytes }
}
