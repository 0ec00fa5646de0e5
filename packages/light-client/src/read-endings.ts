import { ByteReader, clip, isLedgerStateError } from '@ledger-state/core'
import type { ReadEndings } from './check-signatures.js'
import { invalidAnswer } from './errors.js'
import { readBody, readBodyText } from './read-body.js'
import { requestLimits } from './request-limits.js'

/**
 * Makes a function that reads ends of epochs from a node, about 1 MiB of them at a time.
 * @param url URL of the node's API, ending in `/v1`
 * @param fetch as runtimes have it; the reads throw `invalid_answer` if the node refuses them
 */
export function readEndingsFrom(url: string, fetch: typeof globalThis.fetch = globalThis.fetch): ReadEndings {
  return async (waypoint) => {
    const response = await fetch(`${url}/-/epoch_endings?from=${waypoint}`, {
      headers: { accept: 'application/x-bcs' },
      ...requestLimits(),
    })
    if (!response.ok)
      throw invalidAnswer.endingsRefused(`the node answered ${response.status}: ${clip(await readBodyText(response))}`)
    return readEndings(await readBody(response))
  }
}

/** Decodes an answer with ends of epochs. @throws `invalid_answer` */
function readEndings(body: Uint8Array): Uint8Array[] {
  try {
    const reader = new ByteReader(body)
    const endings: Uint8Array[] = []
    for (let rest = reader.readLength(); rest > 0; rest--) endings.push(reader.readByteString())
    reader.expectEnd()
    return endings
  } catch (error) {
    if (isLedgerStateError(error)) throw invalidAnswer.endingsRefused(error.message, error)
    throw error
  }
}
