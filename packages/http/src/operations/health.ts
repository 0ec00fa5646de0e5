import type { LedgerSummary } from '@ledger-state/engine'
import { invalidRequest, ledgerTooOld } from '../errors.js'
import { CONTENT_TYPE } from '../protocol/media-types.js'
import type { Operation } from './parts/operation.js'
import { parameterOf } from './parts/request-parts.js'

const U32_MAX = 0xffff_ffff

export function createHealthOperation(headerWord: string): Operation {
  return {
    id: 'healthy',
    method: 'GET',
    path: '/v1/-/healthy',
    negotiates: false,
    answersUnderLoad: true,
    tag: 'General',
    summary: 'Check health',
    description: 'Answers 200 if there is a ledger and, with `duration_secs`, it is not older than that.',
    parameters: [
      {
        name: 'duration_secs',
        in: 'query',
        description: 'How many seconds the ledger time may be older than the clock.',
        schema: { type: 'integer', minimum: 0, maximum: U32_MAX },
      },
    ],
    success: { json: { type: 'object', required: ['message'], properties: { message: { type: 'string' } } } },
    errors: [400, 500, 503],
    handle(request) {
      const seconds = parameterOf(request.query, 'duration_secs', parseSeconds)
      const { ledger } = request.pin(undefined)
      if (seconds !== undefined) expectFresh(ledger, seconds)
      return { ledger, contentType: CONTENT_TYPE.json, body: JSON.stringify({ message: `${headerWord}-node:ok` }) }
    },
  }
}

function parseSeconds(text: string): number {
  const seconds = /^\+?\d+$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= U32_MAX) return seconds
  throw invalidRequest.invalidDuration(text)
}

function expectFresh({ latestBlock }: LedgerSummary, seconds: number): void {
  const ledgerSeconds = latestBlock.timestampUsec / 1_000_000n
  if (ledgerSeconds >= BigInt(Math.floor(Date.now() / 1000) - seconds)) return
  throw ledgerTooOld(ledgerSeconds, seconds)
}
