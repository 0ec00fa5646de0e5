import { isU64 } from '@ledger-state/core'
import { versionOfWaypoint } from '@ledger-state/proof'
import { askNode, type Sender } from './ask-node.js'
import type { Trust } from './check-signatures.js'
import { invalidAnswer, invalidOption } from './errors.js'
import type { ReadProof } from './proven-modules.js'
import { readEndingsThrough } from './read-endings.js'
import { readProofThrough } from './read-proof.js'

/** The node that is asked, and the trust of the reader. */
export interface NodeOptions extends Pick<Trust, 'bls' | 'onReached'>, Partial<Sender> {
  /** URL of the node's API, ending in `/v1`. */
  readonly url: string
  /** A waypoint `version:hash`, as the network publishes it, or as an earlier read found it. */
  readonly waypoint: string
  /** Word before the name of each hash, `APTOS::` by default. */
  readonly hashSalt?: string | undefined
}

/** A request to a node: a `GET`, or a `POST` with a body. */
export interface NodeRequest {
  /** Path below the API's URL, with its query. */
  readonly path: string
  /** Body of a `POST`, as JSON. */
  readonly body?: string | undefined
  /** Format of the answer; BCS by default. */
  readonly format?: 'json' | 'bcs' | undefined
}

/** Requests to one node, and the trust against which its answers are verified. */
export interface NodeConnection {
  /** Reads the body of an answer. @throws `invalid_answer` */
  ask(request: NodeRequest): Promise<Uint8Array>
  readonly trust: Trust & { readonly waypoint: string; readonly hashSalt?: string | undefined }
  readonly readProof: ReadProof
}

/**
 * Checks the options and connects them. Nothing is sent.
 * @throws `invalid_argument`
 */
export function connectNode(options: NodeOptions): NodeConnection {
  const { url, waypoint, bls, onReached, hashSalt, fetch = globalThis.fetch, timeoutMs, signal } = options
  const base = baseOf(url)
  versionOfWaypoint(String(waypoint))
  const sender = { fetch, timeoutMs, signal }
  return {
    ask: ({ path, body, format = 'bcs' }) =>
      askNode(sender, base + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          accept: format === 'bcs' ? 'application/x-bcs' : 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
      }),
    trust: { waypoint, bls, onReached, hashSalt, readEndings: readEndingsThrough(base, sender) },
    readProof: readProofThrough(base, sender),
  }
}

function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOfHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!url || !isOfHttp) throw invalidOption.notAUrl(text)
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') throw invalidOption.notAnApi()
  return url.href.replace(/\/+$/, '')
}

/**
 * The newest version at which the node gives proofs of state.
 * @throws `invalid_answer`
 */
export async function newestProvenVersion({ ask }: NodeConnection): Promise<bigint> {
  const text = new TextDecoder().decode(await ask({ path: '/-/trust', format: 'json' }))
  const versions = provenVersionsOf(text)
  if (versions.length === 0) throw invalidAnswer.noAnswer('it gives no proofs: it has no signed checkpoint')
  const [newest] = versions
  if (typeof newest !== 'string' || !DECIMAL.test(newest) || !isU64(BigInt(newest))) {
    throw invalidAnswer.notVersions('a version is not a decimal text')
  }
  return BigInt(newest)
}

const DECIMAL = /^\d{1,20}$/

function provenVersionsOf(text: string): readonly unknown[] {
  let versions: unknown
  try {
    versions = (JSON.parse(text) as { readonly proof_versions?: unknown } | null)?.proof_versions
  } catch (error) {
    throw invalidAnswer.notVersions((error as Error).message, error)
  }
  if (!Array.isArray(versions)) throw invalidAnswer.notVersions('it has no list `proof_versions`')
  return versions as unknown[]
}
