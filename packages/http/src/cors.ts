import { LedgerStateError } from '@ledger-state/core'
import type { FastifyRequest } from 'fastify'

const METHODS = ['GET', 'POST']
const MAX_AGE_SECONDS = 86_400

/** Lets pages of any origin read answers, chain-state headers included. Nothing here depends on who asks. */
export function corsHeaders({ headers: { origin } }: FastifyRequest, exposed: string): Record<string, string> {
  if (origin === undefined) return {}
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': exposed,
    vary: 'Origin',
  }
}

export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}

/** @throws `origin_not_allowed` for a method that is nowhere offered */
export function preflightHeaders({ headers }: FastifyRequest): Record<string, string> {
  if (!METHODS.includes(headers['access-control-request-method']!)) {
    throw new LedgerStateError('origin_not_allowed', 'request-method not allowed')
  }
  return {
    'access-control-allow-methods': METHODS.join(','),
    'access-control-allow-headers': headers['access-control-request-headers'] ?? '*',
    'access-control-max-age': String(MAX_AGE_SECONDS),
  }
}
