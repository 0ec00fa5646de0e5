import { isLedgerStateError } from '@ledger-state/core'
import { faultOfUpstream } from '../errors.js'
import type { ForwardOptions } from './forward-options.js'
import { Upstream } from './upstream.js'

/**
 * Asks every upstream for its chain, once. An upstream that does not answer is only reported to `onUpstreamChange`, as
 * it may answer later.
 * @throws `upstream_of_another_chain`, which names the upstream
 */
export async function expectUpstreamsOfChain(
  { upstreams, headers = {}, onUpstreamChange = () => {} }: ForwardOptions,
  chainId: bigint,
): Promise<void> {
  const urls = [...new Set(Object.values(upstreams))]
  await Promise.all(
    urls.map(async (url) => {
      const options = { url, headers, words: [], chainId: () => chainId, onChange: onUpstreamChange }
      try {
        await new Upstream(options).look()
      } catch (error) {
        if (isLedgerStateError(error, 'upstream_of_another_chain')) {
          throw faultOfUpstream(url, error)
        }
      }
    }),
  )
}
