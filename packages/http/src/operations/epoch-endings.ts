import { ByteWriter, bytesToHex } from '@ledger-state/core'
import { versionOfWaypoint } from '@ledger-state/proof'
import { invalidRequest } from '../errors.js'
import { chooseFormat } from '../protocol/accept.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import type { Operation, OperationRequest } from './parts/operation.js'
import { parameterOf } from './parts/request-parts.js'
import { MAX_ENDING_BYTES } from './parts/state-proofs.js'

/**
 * Operation that returns the epoch changes from a waypoint to the present validators, in as many answers as they need.
 */
export const getEpochEndings: Operation = {
  id: 'get_epoch_endings',
  method: 'GET',
  path: '/v1/-/epoch_endings',
  negotiates: true,
  tag: 'General',
  summary: 'Get epoch changes',
  description:
    'Signed ledger infos that end epochs, in order, about 1 MiB at a time, starting with the epoch change of the waypoint. To continue, ask again with the waypoint of the last one, until the answer has only that one. In BCS the answer is a vector of byte strings.',
  parameters: [
    {
      name: 'from',
      in: 'query',
      description: 'A waypoint `version:hash` of an epoch change; by default the oldest one in the store.',
      schema: { type: 'string', pattern: '^\\d+:[0-9a-f]{64}$' },
    },
  ],
  success: {
    json: {
      type: 'object',
      required: ['epoch_endings'],
      properties: {
        epoch_endings: { type: 'array', items: { $ref: '#/components/schemas/HexEncodedBytes' } },
      },
    },
    bcs: { $ref: '#/components/schemas/Bytes' },
  },
  errors: [400, 403, 500, 503],
  async handle(request) {
    const format = chooseFormat(request.accept, 'json')
    request.expectOutput(format, 'Get epoch changes')
    const { ledger } = request.pin(undefined)
    // Memory for the bytes, and for the form in which they are sent.
    request.hold((format === 'json' ? 3 : 2) * MAX_ENDING_BYTES)
    const endings = await endingsOf(request, ledger.latestBlock.epoch)
    return { ledger, contentType: CONTENT_TYPE[format], body: format === 'json' ? toJson(endings) : toBcs(endings) }
  },
}

/**
 * The requested epoch changes.
 * @throws `invalid_request` if no kept epoch ends at the requested version
 */
async function endingsOf({ query, proofs }: OperationRequest, lastEpoch: bigint): Promise<readonly Uint8Array[]> {
  const version = parameterOf(query, 'from', versionOfWaypoint)
  const found = await proofs?.endings({ version, lastEpoch, maxBytes: MAX_ENDING_BYTES })
  if (!found && version !== undefined) throw invalidRequest.endingNotKept('from', version)
  return found ?? []
}

function toJson(endings: readonly Uint8Array[]): string {
  return JSON.stringify({ epoch_endings: endings.map(bytesToHex) })
}

function toBcs(endings: readonly Uint8Array[]): Uint8Array {
  const writer = new ByteWriter().uleb128(endings.length)
  for (const ending of endings) writer.byteString(ending)
  return writer.toBytes()
}
