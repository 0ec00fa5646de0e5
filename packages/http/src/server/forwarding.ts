import { parseU64 } from '@ledger-state/core'
import type { Limits } from '../admission/limits.js'
import type { ForwardOptions } from '../forward/forward-options.js'
import { Forwarder } from '../forward/forwarder.js'
import { queryParameter } from '../protocol/query.js'
import type { ServiceContext } from './exchange.js'
import type { FoundRoute } from './router.js'

/** Creates the forwarder of a service. */
export function createForwarder(
  options: ForwardOptions,
  { ledger, chainHeaders, admission: { held } }: ServiceContext,
  limits: Limits,
  spreadMs: number,
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
    spreadMs,
    words: chainHeaders.words.includes('aptos') ? chainHeaders.words : [...chainHeaders.words, 'aptos'],
    answeredByName: chainHeaders.answeredByName,
    chainId: () => info()?.chainId,
    latestVersion: () => info()?.latestVersion,
    held,
  })
}

/** Query parameters that may name a version; `from` and `to` may be times. */
const VERSION_PARAMETERS = ['ledger_version', 'from', 'to']

/** The newest version at which a request reads or about which it asks; undefined if it names none. */
export function newestNamedBy({ route, params }: FoundRoute, query: string): bigint | undefined {
  if (query === '' && params.version === undefined) return undefined
  let newest: bigint | undefined
  for (const { name, in: place } of route.parameters ?? []) {
    const isInPath = place === 'path' && name === 'version'
    if (!isInPath && (query === '' || !VERSION_PARAMETERS.includes(name))) continue
    const version = readVersion(() => (isInPath ? params.version : queryParameter(query, name)))
    if (version !== undefined && (newest === undefined || version > newest)) newest = version
  }
  return newest
}

/** A version; undefined if there is none. If it is wrong, the operation reports that. */
function readVersion(textOf: () => string | undefined): bigint | undefined {
  try {
    const text = textOf()
    return text === undefined ? undefined : parseU64(text)
  } catch {
    return undefined
  }
}
