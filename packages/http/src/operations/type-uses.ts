import { addressToShortHex, noSteps } from '@ledger-state/core'
import { listTypeUsesInSteps, type TypeUse, type TypeUses } from '@ledger-state/ledger'
import { isStructTag, type StructTag, typeTagToText } from '@ledger-state/type-tag'
import { invalidRequest } from '../errors.js'
import { inForm } from '../formats/page-body.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { DEFAULT_PAGE, MAX_PAGE } from './parts/history-page.js'
import { type Operation, type OperationRequest, STATE_ERRORS, STATE_PARAMETERS } from './parts/operation.js'
import { JsonArrayBody } from './parts/page-bodies.js'
import { listCursor, parsePageStart, pinPage } from './parts/page-start.js'
import {
  limitParameter,
  pageLimit,
  parseLimit,
  parseStateKeyPlace,
  readListing,
  START_PARAMETER,
} from './parts/paging.js'
import { parseAskedState, parsePart } from './parts/request-parts.js'

export const getTypeUses: Operation = {
  id: 'get_type_uses',
  method: 'GET',
  path: '/v1/types/{struct_type}/uses',
  negotiates: false,
  takesTurns: true,
  tag: 'Types',
  summary: 'Get uses of a type',
  description:
    'Searches resources and modules of all accounts for uses of a struct or enum with any type arguments: resources of this type or with it as a type argument, and modules that name it in fields, parameters or results. There is no index: a page reads about 1,000 state keys in byte order (by address); it may be empty and still have a cursor.',
  parameters: [
    {
      name: 'struct_type',
      in: 'path',
      description: 'The struct or enum, without type arguments.',
      schema: { $ref: '#/components/schemas/MoveType' },
    },
    ...STATE_PARAMETERS,
    START_PARAMETER,
    limitParameter(DEFAULT_PAGE, MAX_PAGE),
  ],
  success: {
    json: {
      type: 'object',
      required: ['scanned', 'uses'],
      properties: {
        scanned: { type: 'integer', format: 'int32', description: 'Number of state keys that the page examined.' },
        uses: {
          type: 'array',
          items: {
            type: 'object',
            required: ['address'],
            properties: {
              address: { $ref: '#/components/schemas/Address' },
              resource: { type: 'string', description: 'For a resource: its struct tag.' },
              module: { type: 'string', description: 'For a module: its name.' },
              declarations: {
                type: 'array',
                description: 'For a module: its types and functions that name the type.',
                items: { type: 'string' },
              },
            },
          },
        },
      },
    },
  },
  isPaged: true,
  errors: STATE_ERRORS,
  async handle(request) {
    const type = parseStructName(request)
    const asked = parseAskedState(request.query)
    const start = parsePageStart(request.query, parseStateKeyPlace)
    const askedLimit = parseLimit(request.query)
    request.expectOutput('json', 'Get uses of a type')
    const state = pinPage(request, asked, start)
    const limit = pageLimit(askedLimit, DEFAULT_PAGE, MAX_PAGE)
    let page: TypeUses<TypeUse | undefined> | undefined
    const { body, cursor } = await readListing(
      request,
      (options) => {
        page = listTypeUsesInSteps(state, type, { ...options, start: start?.place, limit })
        return page
      },
      inForm(noSteps, new JsonArrayBody(request.openBody(), useToJson)),
    )
    return {
      ledger: state.ledger,
      contentType: CONTENT_TYPE.json,
      body: body.text('}').prefix(Buffer.from(`{"scanned":${page!.scanned},"uses":`)),
      cursor: listCursor(cursor, state),
    }
  },
}

function parseStructName({ ledger, params }: OperationRequest): StructTag {
  const text = params.struct_type!
  const type = parsePart('path `struct_type`', () => ledger.parseType(text))
  if (!isStructTag(type)) throw invalidRequest.structTagExpected('path `struct_type`', text)
  if (type.typeArguments.length > 0) throw invalidRequest.typeArgumentsGiven(text)
  return type
}

function useToJson(use: TypeUse): string {
  const address = `"address":"${addressToShortHex(use.address)}"`
  if (use.kind === 'resource') return `{${address},"resource":${JSON.stringify(typeTagToText(use.tag))}}`
  return `{${address},"module":${JSON.stringify(use.name)},"declarations":${JSON.stringify(use.declarations)}}`
}
