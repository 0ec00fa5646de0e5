import { LedgerStateError } from '@ledger-state/core'
import type { FastifyReply, FastifyRequest } from 'fastify'

const METHODS = ['GET', 'POST']
const MAX_AGE_SECONDS = 86_400

/** Lets pages of any origin read answers, chain-state headers included. Nothing here depends on who asks. */
export function setCorsHeaders(request: FastifyRequest, reply: FastifyReply, exposed: string): void {
  const { origin } = request.headers
  if (origin === undefined) return
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': exposed,
    vary: 'Origin',
  })
}

export function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}

/** @throws `origin_not_allowed` for a method that is nowhere offered */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply): void {
  if (!METHODS.includes(request.headers['access-control-request-method']!)) {
    throw new LedgerStateError('origin_not_allowed', 'request-method not allowed')
  }
  reply.headers({
    'access-control-allow-methods': METHODS.join(','),
    'access-control-allow-headers': request.headers['access-control-request-headers'] ?? '*',
    'access-control-max-age': String(MAX_AGE_SECONDS),
  })
  reply.code(200).send()
}
