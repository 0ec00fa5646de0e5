import { bytesToHex } from '@ledger-state/core'
import { proofRefused } from './errors.js'
import type { ReadProof } from './proven-modules.js'
import { readBodyText } from './read-body.js'
import { requestLimits } from './request-limits.js'

/**
 * Makes a function that reads proofs of modules from a node.
 * @param url URL of the node's API, ending in `/v1`
 * @param fetch as runtimes have it; the proofs throw `invalid_answer` if the node refuses them
 */
export function readProofFrom(url: string, fetch: typeof globalThis.fetch = globalThis.fetch): ReadProof {
  return async (stateKey, version) => {
    const response = await fetch(`${url}/experimental/state_values/raw?ledger_version=${version}&proof=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ key: bytesToHex(stateKey) }),
      ...requestLimits(),
    })
    const text = await readBodyText(response)
    if (!response.ok) throw proofRefused(response.status, text)
    return text
  }
}
