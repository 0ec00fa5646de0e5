import type { IncomingMessage } from 'node:http'
import { preflightMethodNotAllowed } from '../errors.js'
import type { ChainHeaders } from './chain-headers.js'

const METHODS = ['GET', 'POST']
const MAX_AGE_SECONDS = 86_400
/** Further headers of ours that pages cannot read unless they are exposed. */
const EXPOSED = ['ETag', 'Retry-After']

/** Lets pages of any origin read answers, including the chain-state headers. No answer depends on who asks. */
export function createCorsHeaders(chainHeaders: ChainHeaders): (origin: string) => readonly string[] {
  const { names, cursorNames, completeName, factNames, readVersionName, answeredByName, gasUsedNames } = chainHeaders
  const own = [...gasUsedNames, completeName, ...Object.values(factNames), readVersionName, answeredByName]
  const exposed = [...names, ...cursorNames, ...own, ...EXPOSED].join(',')
  return (origin) => [
    'access-control-allow-origin',
    origin,
    'access-control-allow-credentials',
    'true',
    'access-control-expose-headers',
    exposed,
  ]
}

/** Whether a request with method `OPTIONS` is a preflight. */
export function isPreflight({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}

/**
 * Headers of the answer to a preflight.
 * @throws `origin_not_allowed` for a method that no operation has
 */
export function preflightHeaders({ headers }: IncomingMessage): readonly string[] {
  if (!METHODS.includes(headers['access-control-request-method']!)) throw preflightMethodNotAllowed()
  return [
    'access-control-allow-methods',
    METHODS.join(','),
    'access-control-allow-headers',
    String(headers['access-control-request-headers'] ?? '*'),
    'access-control-max-age',
    String(MAX_AGE_SECONDS),
  ]
}
