import { ByteReader, ByteWriter, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { type LedgerState, readResource } from '@ledger-state/ledger'
import { parseStructTag, type StructTag } from '@ledger-state/type-tag'
import { chooseFormat } from '../protocol/accept.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import type { Operation } from './parts/operation.js'

const FRAMEWORK = parseAddress('0x1')
/** Type of the gas schedule. It begins with the feature version, which its predecessor does not have. */
const SCHEDULE = parseStructTag('0x1::gas_schedule::GasScheduleV2')
const OLD_SCHEDULE = parseStructTag('0x1::gas_schedule::GasSchedule')
const LEAST_PRICE = 'txn.min_price_per_gas_unit'

/**
 * Creates an operation that estimates only from the ledger: it assumes that blocks have room, so that the minimum price
 * suffices.
 */
export function createGasPriceOperation(leastEstimate: bigint): Operation {
  return {
    id: 'estimate_gas_price',
    method: 'GET',
    path: '/v1/estimate_gas_price',
    negotiates: true,
    tag: 'General',
    summary: 'Estimate gas price',
    description:
      'The lowest gas unit price that the gas schedule of the ledger allows, or the price set by the operator if that is higher; 0 if there is neither. All three estimates are the same: this service does not see how full blocks are.',
    parameters: [],
    success: { json: { $ref: '#/components/schemas/GasEstimation' }, bcs: { $ref: '#/components/schemas/Bytes' } },
    errors: [400, 403, 500, 503],
    handle(request) {
      const format = chooseFormat(request.accept, 'json')
      request.expectOutput(format, 'Estimate gas price')
      const state = request.pin(undefined)
      const least = leastGasPrice(state)
      const price = least > leastEstimate ? least : leastEstimate
      return {
        ledger: state.ledger,
        contentType: CONTENT_TYPE[format],
        body: format === 'json' ? estimationToJson(price) : estimationToBcs(price),
      }
    },
  }
}

/** Least price; 0 if the ledger has no gas schedule, or a schedule without it, as any price is then allowed. */
function leastGasPrice(state: LedgerState): bigint {
  const current = scheduleOf(state, SCHEDULE)
  const bytes = current ?? scheduleOf(state, OLD_SCHEDULE)
  if (bytes === undefined) return 0n
  const reader = new ByteReader(bytes)
  if (current !== undefined) reader.readU64()
  for (let left = reader.readLength(); left > 0; left--) {
    const name = Buffer.from(reader.readByteString()).toString()
    const value = reader.readU64()
    if (name === LEAST_PRICE) return value
  }
  return 0n
}

function scheduleOf(state: LedgerState, tag: StructTag): Uint8Array | undefined {
  try {
    return readResource(state, FRAMEWORK, tag).bytes
  } catch (error) {
    if (isLedgerStateError(error, 'resource_not_found')) return undefined
    throw error
  }
}

/** Prices in JSON are numbers, even above 2^53. */
function estimationToJson(price: bigint): string {
  return `{"deprioritized_gas_estimate":${price},"gas_estimate":${price},"prioritized_gas_estimate":${price}}`
}

/** The first and the last are options. */
function estimationToBcs(price: bigint): Uint8Array {
  return new ByteWriter().u8(1).u64(price).u64(price).u8(1).u64(price).toBytes()
}
