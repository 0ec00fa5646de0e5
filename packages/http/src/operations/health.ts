import { type LedgerInfo, LedgerStateError } from '@ledger-state/core'
import type { Operation } from '../operation.js'
import { queryParameter } from '../request-parts.js'

const U32_MAX = 0xffff_ffff

export function createHealthOperation(headerWord: string): Operation {
  return {
    id: 'healthy',
    method: 'GET',
    path: '/v1/-/healthy',
    tag: 'General',
    summary: 'Check health',
    description: 'Answers 200 as long as there is a ledger and, with `duration_secs`, it is no older than that.',
    parameters: [
      {
        name: 'duration_secs',
        in: 'query',
        description: 'How many seconds the ledger time may lie behind the clock.',
        schema: { type: 'integer', minimum: 0, maximum: U32_MAX },
      },
    ],
    success: { json: { type: 'object', required: ['message'], properties: { message: { type: 'string' } } } },
    errors: [400, 500, 503],
    handle(request) {
      const seconds = parseDuration(request.query)
      const { ledger } = request.pin(undefined)
      if (seconds !== undefined) expectFresh(ledger, seconds)
      return { ledger, format: 'json', body: JSON.stringify({ message: `${headerWord}-node:ok` }) }
    },
  }
}

function parseDuration(query: string): number | undefined {
  const text = queryParameter(query, 'duration_secs')
  if (text === undefined) return undefined
  const seconds = /^\+?\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= U32_MAX) return seconds
  const message = `failed to parse parameter \`duration_secs\`: ${JSON.stringify(text.slice(0, 50))} is no whole number of seconds (u32)`
  throw new LedgerStateError('invalid_request', message)
}

function expectFresh({ latestBlock }: LedgerInfo, seconds: number): void {
  const ledgerSeconds = latestBlock.timestampUsec / 1_000_000n
  if (ledgerSeconds >= BigInt(Math.floor(Date.now() / 1000) - seconds)) return
  const message = `The latest ledger info timestamp is ${ledgerSeconds}s, which is beyond the allowed skew (${seconds}s).`
  throw new LedgerStateError('unhealthy', message)
}
