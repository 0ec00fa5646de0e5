import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import { askNode, type Sender } from './ask-node.js'
import type { ReadEndings } from './check-signatures.js'
import { invalidAnswer } from './errors.js'

/**
 * Makes a function that reads epoch changes from a node, about 1 MiB of them at a time.
 * @param url URL of the node's API, ending in `/v1`
 * @param fetch as runtimes have it; the reads throw `invalid_answer` if the node refuses them or does not answer
 */
export function readEndingsFrom(url: string, fetch: typeof globalThis.fetch = globalThis.fetch): ReadEndings {
  return readEndingsThrough(url, { fetch })
}

/** Same as `readEndingsFrom`, with the limits of the sender. */
export function readEndingsThrough(url: string, sender: Sender): ReadEndings {
  return async (waypoint) => {
    const headers = { accept: 'application/x-bcs' }
    return readEndings(await askNode(sender, `${url}/-/epoch_endings?from=${waypoint}`, { headers }))
  }
}

/** Decodes an answer with epoch changes. @throws `invalid_answer` */
function readEndings(body: Uint8Array): Uint8Array[] {
  try {
    const reader = new ByteReader(body)
    const endings: Uint8Array[] = []
    for (let rest = reader.readLength(); rest > 0; rest--) endings.push(reader.readByteString())
    reader.expectEnd()
    return endings
  } catch (error) {
    if (isLedgerStateError(error)) throw invalidAnswer.notEndings(error.message, error)
    throw error
  }
}
