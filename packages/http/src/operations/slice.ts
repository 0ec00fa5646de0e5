import { addressToShortHex, hexToBytes, noSteps, parseU64 } from '@ledger-state/core'
import {
  type ListedMember,
  listMembers,
  type MemberListing,
  OUTSIDE_OF_SLICE,
  readLeftOut,
  readSlice,
  typePatternToText,
} from '@ledger-state/slices'
import { typeTagToText } from '@ledger-state/type-tag'
import { inForm } from '../formats/page-body.js'
import { leftOutFacts } from '../formats/slice-formats.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import { DEFAULT_PAGE, MAX_PAGE } from './parts/history-page.js'
import { type Operation, STATE_ERRORS, STATE_PARAMETERS } from './parts/operation.js'
import { JsonArrayBody } from './parts/page-bodies.js'
import { listCursor, parsePageStart, pinPage } from './parts/page-start.js'
import { limitParameter, pageLimit, parseLimit, readListing, START_PARAMETER } from './parts/paging.js'
import { parameterOf, parseAskedState } from './parts/request-parts.js'

const COUNT = { type: 'integer', format: 'uint64', minimum: 0 }
const COUNT_OR_NULL = { type: ['integer', 'null'], minimum: 0 }

export const getSlice: Operation = {
  id: 'get_slice',
  method: 'GET',
  path: '/v1/-/slice',
  negotiates: false,
  takesTurns: true,
  tag: 'General',
  summary: 'Show the contents of a slice',
  description:
    'The part of the ledger that the store keeps: the requested slice, and its members in pages, accounts and objects before tables, each in byte order. `asked` is null if the store keeps everything. A page examines about 1,000 members: with `joined_since` it may be empty and have a cursor.',
  parameters: [
    {
      name: 'joined_since',
      in: 'query',
      description: 'Lists only members with writes kept since this version or a later one.',
      schema: { $ref: '#/components/schemas/U64' },
    },
    ...STATE_PARAMETERS,
    START_PARAMETER,
    limitParameter(DEFAULT_PAGE, MAX_PAGE),
  ],
  success: {
    json: {
      type: 'object',
      required: ['asked', 'outside', 'left_out', 'scanned', 'members'],
      properties: {
        asked: {
          oneOf: [
            {
              type: 'object',
              required: ['accounts', 'tables', 'types'],
              properties: {
                accounts: { ...COUNT, description: 'How many accounts were asked for.' },
                tables: { ...COUNT, description: 'How many tables were asked for.' },
                types: {
                  type: 'array',
                  items: { type: 'string' },
                  description: 'Types of resources that are kept at any address.',
                },
              },
            },
            { type: 'null' },
          ],
        },
        outside: {
          type: ['string', 'null'],
          description: 'Describes in words the part of the ledger that the slice leaves out.',
        },
        left_out: {
          description:
            'Counts of everything that the slice has left out since the store began, up to the last commit at or before the version. Bytes count keys and values. Null if the store keeps everything, or has not counted since it began.',
          oneOf: [
            {
              type: 'object',
              required: ['keys', 'bytes', 'writes', 'written_bytes'],
              properties: {
                keys: { ...COUNT, description: 'Keys of the state that the store began with.' },
                bytes: { ...COUNT, description: 'Bytes of these keys and their values.' },
                writes: { ...COUNT, description: 'Writes of transactions, deletions included.' },
                written_bytes: { ...COUNT, description: 'Bytes of these writes.' },
              },
            },
            { type: 'null' },
          ],
        },
        scanned: { ...COUNT, description: 'Number of members that the page examined.' },
        members: {
          type: 'array',
          items: {
            type: 'object',
            required: ['kind', 'id', 'joined_by', 'since_version', 'known_whole', 'value_type', 'keys', 'bytes'],
            properties: {
              kind: { type: 'string', enum: ['account', 'table'], description: 'Objects are accounts here.' },
              id: { $ref: '#/components/schemas/Address' },
              joined_by: {
                type: 'string',
                enum: ['asked', 'owner', 'handle', 'type'],
                description:
                  'Why it is a member: it was requested, its owner is kept, its handle is in a kept value, or it has a resource of a kept type.',
              },
              since_version: { $ref: '#/components/schemas/U64' },
              known_whole: {
                type: 'boolean',
                description:
                  'Whether everything that it held when it joined is kept; otherwise each key is known only since its first kept write.',
              },
              value_type: {
                type: ['string', 'null'],
                description: 'For a table: the type of its values, if known.',
              },
              keys: { ...COUNT_OR_NULL, description: 'Number of its state keys; null if there are more than 32.' },
              bytes: { ...COUNT_OR_NULL, description: 'Bytes of these keys and their values.' },
            },
          },
        },
      },
    },
  },
  isPaged: true,
  errors: STATE_ERRORS,
  async handle(request) {
    const since = parameterOf(request.query, 'joined_since', parseU64)
    const asked = parseAskedState(request.query)
    const start = parsePageStart(request.query, hexToBytes)
    const askedLimit = parseLimit(request.query)
    request.expectOutput('json', 'Show the contents of a slice')
    const state = pinPage(request, asked, start)
    const limit = pageLimit(askedLimit, DEFAULT_PAGE, MAX_PAGE)
    const { view, storedView, ledger } = state
    const slice = readSlice(view)
    const leftOut = readLeftOut(view)
    let page: MemberListing | undefined
    const { body, cursor } = await readListing(
      request,
      (options) => {
        page = listMembers(storedView, { ...options, since, start: start?.place, limit })
        return page
      },
      inForm(noSteps, new JsonArrayBody(request.openBody(), memberToJson)),
    )
    const wanted = slice && {
      accounts: slice.accounts,
      tables: slice.tables,
      types: slice.types.map(typePatternToText),
    }
    const head = JSON.stringify({
      asked: wanted ?? null,
      outside: slice ? OUTSIDE_OF_SLICE : null,
      left_out: leftOutFacts(leftOut),
      scanned: page!.scanned,
    })
    return {
      ledger,
      contentType: CONTENT_TYPE.json,
      body: body.text('}').prefix(Buffer.from(`${head.slice(0, -1)},"members":`)),
      cursor: listCursor(cursor, state),
    }
  },
}

function memberToJson({ kind, id, reason, since, isWhole, valueType, size }: ListedMember): string {
  return JSON.stringify({
    kind,
    id: addressToShortHex(id),
    joined_by: reason,
    since_version: String(since),
    known_whole: isWhole,
    value_type: valueType ? typeTagToText(valueType) : null,
    keys: size?.keys ?? null,
    bytes: size?.bytes ?? null,
  })
}
