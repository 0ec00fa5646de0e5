import { type Failure, toFailure } from './failure.ts'
import type { StateHead } from './state-head.ts'

export interface ApiAnswer {
  readonly text: string
  readonly head: StateHead | undefined
  /** Start of the next page. */
  readonly cursor: string | undefined
  /** Whether all changes of the range of a history are known. */
  readonly isComplete: boolean
  /** The version that was read, if the request named a time. */
  readonly readVersion: string | undefined
}

export type Result<T> = { readonly value: T; readonly answer: ApiAnswer } | { readonly failure: Failure }

export interface ApiRequest {
  /** Path below `/v1`, with its query, but without the state. */
  readonly path: string
  /** A version, a time, or undefined for the latest. */
  readonly at?: string | undefined
  readonly body?: string | undefined
  /** Media types that the answer may have; JSON by default. */
  readonly accept?: string | undefined
}

/** Path of a request as it is sent. */
export function requestPath({ path, at }: ApiRequest): string {
  if (at === undefined) return `/v1${path}`
  const state = /^\d+$/.test(at) ? `ledger_version=${at}` : `ledger_timestamp=${encodeURIComponent(at)}`
  return `/v1${path}${path.includes('?') ? '&' : '?'}${state}`
}

/** Whether the answer changes as the ledger grows. */
export function readsLatest({ path, at }: ApiRequest): boolean {
  return at === undefined && !/^\/(?:blocks|spec)|[?&]to=/.test(path)
}

/** Versions, heights and times that a request names: its state, the ends of its range, and its block. */
function statesOf({ path, at }: ApiRequest): readonly string[] {
  const named = [...path.matchAll(/[?&](?:from|to)=([^&]*)|\/by_(?:version|height)\/([^?]*)/g)]
  return [at ?? [], ...named.map(([, end, block]) => end ?? block!)].flat()
}

/** JSON of an answer. If it may have a number that JavaScript cannot hold, use `askText`. */
export async function ask<T>(request: ApiRequest, signal: AbortSignal): Promise<Result<T>> {
  const result = await askText(request, signal)
  if ('failure' in result) return result
  try {
    return { value: JSON.parse(result.value) as T, answer: result.answer }
  } catch {
    return { failure: { kind: 'failed', message: 'The response is not JSON. Is this a Ledger State node?' } }
  }
}

/** Time after which a node that does not answer counts as lost. */
const LONGEST_WAIT_MS = 30_000

/** Sends a request. @throws if the node does not answer */
export async function send(request: ApiRequest, signal?: AbortSignal): Promise<Response> {
  const { body, accept = 'application/json' } = request
  const late = AbortSignal.timeout(LONGEST_WAIT_MS)
  return await fetch(requestPath(request), {
    signal: signal ? AbortSignal.any([signal, late]) : late,
    headers: { accept, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { method: 'POST', body }),
  })
}

export async function askText(request: ApiRequest, signal: AbortSignal): Promise<Result<string>> {
  try {
    const response = await send(request, signal)
    const text = await response.text()
    const { status, headers } = response
    const head = readHead(headers)
    const readVersion = header(headers, 'read-version')
    if (!response.ok) {
      const states = statesOf({ ...request, at: readVersion ?? request.at })
      return { failure: toFailure({ status, text, head, retryAfter: headers.get('retry-after'), states }) }
    }
    const answer = {
      text,
      head,
      cursor: header(headers, 'cursor'),
      isComplete: header(headers, 'complete') !== 'false',
      readVersion,
    }
    return { value: text, answer }
  } catch (error) {
    if (signal.aborted) throw error
    return { failure: { kind: 'unreachable', message: 'the node does not answer', retryAfterMs: 2_000 } }
  }
}

/** A header, whatever prefix the node uses: `x-svc-…`, `x-aptos-…`. */
function header(headers: Headers, name: string): string | undefined {
  for (const [found, value] of headers) if (found.startsWith('x-') && found.endsWith(`-${name}`)) return value
  return undefined
}

function readHead(headers: Headers): StateHead | undefined {
  const version = exactHeader(headers, 'ledger-version')
  if (version === undefined) return undefined
  return {
    version,
    chainId: exactHeader(headers, 'chain-id') ?? '',
    oldestVersion: exactHeader(headers, 'ledger-oldest-version') ?? '0',
    timestampUsec: exactHeader(headers, 'ledger-timestampusec') ?? '0',
    height: exactHeader(headers, 'block-height') ?? '0',
    oldestHeight: exactHeader(headers, 'oldest-block-height') ?? '0',
    epoch: exactHeader(headers, 'epoch') ?? '0',
  }
}

/** A header by its exact name after the prefix, so that `oldest-block-height` is not taken for `block-height`. */
function exactHeader(headers: Headers, name: string): string | undefined {
  const pattern = new RegExp(`^x-[a-z0-9]+(?:-[a-z0-9]+)*?-${name}$`)
  for (const [found, value] of headers) {
    if (pattern.test(found) && (name.startsWith('oldest') || !found.includes('-oldest-'))) return value
    if (found.endsWith('-ledger-oldest-version') && name === 'ledger-oldest-version') return value
  }
  return undefined
}
