import { bytesToHex } from '@ledger-state/core'
import { askNode, type Sender } from './ask-node.js'
import type { ReadProof } from './proven-modules.js'

/**
 * Makes a function that reads proofs of modules from a node.
 * @param url URL of the node's API, ending in `/v1`
 * @param fetch as runtimes have it; the proofs throw `invalid_answer` if the node refuses them or does not answer
 */
export function readProofFrom(url: string, fetch: typeof globalThis.fetch = globalThis.fetch): ReadProof {
  return readProofThrough(url, { fetch })
}

/** Same as `readProofFrom`, with the limits of the sender. */
export function readProofThrough(url: string, sender: Sender): ReadProof {
  return async (stateKey, version) => {
    const body = await askNode(sender, `${url}/experimental/state_values/raw?ledger_version=${version}&proof=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ key: bytesToHex(stateKey) }),
    })
    return new TextDecoder().decode(body)
  }
}
