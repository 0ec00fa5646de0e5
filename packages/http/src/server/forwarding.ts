import { parseU64 } from '@ledger-state/core'
import { clientLeft } from '../errors.js'
import type { ForwardOptions } from '../forward/forward-options.js'
import { Forwarder } from '../forward/forwarder.js'
import { queryParameter } from '../protocol/query.js'
import type { Limits } from './default-limits.js'
import type { Exchange, ServiceContext } from './exchange.js'
import type { HeldRequests } from './held-requests.js'

/** The forwarder of a service. */
export function createForwarder(
  options: ForwardOptions,
  { ledger, chainHeaders }: ServiceContext,
  limits: Limits,
  held: HeldRequests,
): Forwarder {
  const info = () => {
    try {
      return ledger.info
    } catch {
      return undefined
    }
  }
  return new Forwarder(options, {
    limits,
    words: chainHeaders.words.includes('aptos') ? chainHeaders.words : [...chainHeaders.words, 'aptos'],
    answeredByName: chainHeaders.answeredByName,
    chainId: () => info()?.chainId,
    latestVersion: () => info()?.latestVersion,
    untilServed: (request, version) =>
      new Promise((resolve, reject) => {
        if (held.isServed(version)) {
          resolve()
          return
        }
        request.gone.addEventListener('abort', () => reject(clientLeft()), { once: true })
        held.hold(request as Exchange, version, resolve)
      }),
  })
}

/** The version that a request reads at or asks about; undefined where it names none that can be read. */
export function versionNamedBy({ route, params, query }: Exchange): bigint | undefined {
  const { parameters } = route!
  if (!parameters) return undefined
  const inPath = parameters.some(({ name }) => name === 'version') ? params.version : undefined
  const isRead = query !== '' && parameters.some(({ name }) => name === 'ledger_version')
  try {
    const text = inPath ?? (isRead ? queryParameter(query, 'ledger_version') : undefined)
    return text === undefined ? undefined : parseU64(text)
  } catch {
    // The operation says what is wrong with it.
    return undefined
  }
}
