import { setTimeout as sleep } from 'node:timers/promises'
import { fetchFailure, isLedgerStateError, parseRetryAfter } from '@ledger-state/core'
import { followNone, type HttpAnswer, type HttpRequest, sendRequest } from '@ledger-state/core/requests'
import { type RequestError, upstreamAnswered, upstreamBusy, upstreamFailed, upstreamOfAnotherChain } from '../errors.js'
import { readBoundedBody } from './bounded-body.js'
import type { UpstreamChange } from './forward-options.js'
import { readUpstreamState, type UpstreamState } from './upstream-headers.js'

/** Time after which an upstream is asked for its chain again before other requests. */
const CHAIN_IS_KNOWN_MS = 30_000
/** Milliseconds between the beginnings of two looks at an upstream's newest version. */
const LOOK_INTERVAL_MS = 200
/** Pause after an upstream could not be looked at. */
const FAULT_INTERVAL_MS = 1_000
/** Time for which an upstream that is looked at may send nothing, and for all of the look. */
const LOOK_SILENCE_MS = 5_000
const LOOK_TIMEOUT_MS = 10_000
/** Time for which an announced version is relied on. Then the upstream is asked again. */
const ANNOUNCEMENT_HOLDS_MS = 1_000
/** Longest pause for which an upstream's `Retry-After` is obeyed. */
const LONGEST_RETRY_AFTER_MS = 3_600_000
const SHORTEST_RETRY_AFTER_MS = 1_000
const MOST_INFO_BYTES = 65_536
const BUSY_STATUSES: readonly number[] = [429, 503]

/** Options that every request to an upstream needs. */
export interface UpstreamOptions {
  /** URL of the upstream, ending in `/v1`. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Words in the names of its chain-state headers, `x-<word>-chain-id`. */
  readonly words: readonly string[]
  /** Chain id of our ledger; undefined if it has none yet. */
  readonly chainId: () => bigint | undefined
  readonly onChange: (change: UpstreamChange) => void
}

/** A request to an upstream. */
export interface UpstreamInit extends Pick<HttpRequest, 'method' | 'body' | 'silenceMs'> {
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** One upstream fullnode: sends it requests, and knows whether it may be asked. */
export class Upstream {
  readonly url: string
  /** The newest version that it has announced, and when. */
  #announced: { readonly version: bigint; readonly at: number } | undefined
  readonly #options: UpstreamOptions
  /** These times are in milliseconds of `performance.now`. */
  #chainSeenAt = Number.NEGATIVE_INFINITY
  #askableAt = 0
  #lookableAt = 0
  /** Reason why it could not be used at the last attempt. */
  #fault: RequestError | undefined
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(options: UpstreamOptions) {
    this.#options = options
    this.url = options.url
  }

  /** Whether it has recently announced a version. Earlier announcements may have been false. */
  hasAnnounced(version: bigint): boolean {
    const announced = this.#announced
    return announced !== undefined && announced.version >= version && !isOld(announced.at)
  }

  /**
   * Resolves if it may be asked now.
   * @throws `upstream_busy`, `upstream_failed`, `upstream_of_another_chain`
   */
  async expectUsable(): Promise<void> {
    this.#expectAskable()
    const now = performance.now()
    if (now - this.#chainSeenAt < CHAIN_IS_KNOWN_MS) return
    // Many requests may wait for an upstream that is away. Each fails at once, until the upstream is checked again.
    if (this.#fault && now < this.#lookableAt) throw this.#fault
    await (this.#next ?? this.#running ?? this.look())
  }

  #expectAskable(): void {
    const waitMs = this.#askableAt - performance.now()
    if (waitMs > 0) throw upstreamBusy(Math.ceil(waitMs / 1_000))
  }

  /**
   * Asks for its chain and its newest version, in a request that begins after this call. All earlier callers share the
   * request.
   */
  look(): Promise<void> {
    this.#next ??= this.#lookNext()
    return this.#next
  }

  async #lookNext(): Promise<void> {
    await this.#running?.catch(() => {})
    const waitMs = this.#lookableAt - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    this.#running = this.#next
    this.#next = undefined
    this.#lookableAt = performance.now() + LOOK_INTERVAL_MS
    try {
      this.#expectAskable()
      await this.#look()
    } catch (error) {
      if (isLedgerStateError(error, 'upstream_busy')) throw error
      const fault = isLedgerStateError(error, 'upstream_failed', 'upstream_of_another_chain')
        ? error
        : upstreamFailed('it cannot be reached', error)
      this.#refuse(fault)
      throw fault
    } finally {
      this.#running = undefined
    }
  }

  async #look(): Promise<void> {
    const signal = AbortSignal.timeout(LOOK_TIMEOUT_MS)
    const headers = { accept: 'application/json' }
    const response = await this.ask('', { headers, signal, silenceMs: LOOK_SILENCE_MS })
    const { first, rest } = await readBoundedBody(response, MOST_INFO_BYTES, () => {})
    await rest?.return(undefined)
    if (response.status !== 200) throw upstreamAnswered(response.status, ' when it is asked for its chain')
    const { chain_id, ledger_version } = parseInfo(first)
    this.#expectChain(typeof chain_id === 'number' ? BigInt(Math.trunc(chain_id)) : undefined)
    if (typeof ledger_version === 'string' && /^\d{1,20}$/.test(ledger_version)) this.#haveSeen(BigInt(ledger_version))
  }

  /**
   * Sends a request.
   * @param target path and query after its URL
   * @throws `upstream_failed` if it redirects, `upstream_of_another_chain`; an error for operators if it does not
   * answer
   */
  async ask(target: string, init: UpstreamInit): Promise<HttpAnswer> {
    const headers = new Headers(this.#options.headers)
    // A compressed answer would be unpacked here, and then be counted and sent so.
    headers.set('accept-encoding', 'identity')
    for (const [name, value] of Object.entries(init.headers)) headers.set(name, value)
    const answer = await sendRequest(`${this.url}${target}`, {
      ...init,
      headers: Object.fromEntries(headers),
      redirectTarget: followNone,
      passesFailures: true,
    })
    const { status } = answer
    if ('why' in answer) throw status === undefined ? new Error(answer.why) : upstreamAnswered(status)
    if (answer.status >= 300 && answer.status < 400) {
      await answer.drop()
      throw upstreamAnswered(answer.status)
    }
    if (BUSY_STATUSES.includes(answer.status)) this.#heedRetryAfter(answer.headers)
    return answer
  }

  /** Notes that it did not answer, so that it is looked at before it is asked again. */
  doubt(): void {
    this.#chainSeenAt = Number.NEGATIVE_INFINITY
  }

  /**
   * The chain state in an answer.
   * @throws `upstream_of_another_chain`, `upstream_failed` if it must have one and does not
   */
  readState({ headers, status }: HttpAnswer): UpstreamState {
    const state = readUpstreamState(headers, this.#options.words)
    if (state.chainId !== undefined || isOk(status)) this.#expectChain(state.chainId)
    if (state.ledgerVersion !== undefined) this.#haveSeen(state.ledgerVersion)
    return state
  }

  #expectChain(chainId: bigint | undefined): void {
    const ours = this.#options.chainId()
    if (chainId === undefined || ours === undefined || chainId !== ours) {
      this.#chainSeenAt = Number.NEGATIVE_INFINITY
      const fault =
        chainId === undefined || ours === undefined
          ? upstreamFailed(
              ours === undefined ? 'the chain of this service is not known yet' : 'it does not report its chain',
            )
          : upstreamOfAnotherChain(chainId, ours)
      this.#refuse(fault)
      throw fault
    }
    this.#chainSeenAt = performance.now()
    const { url, onChange } = this.#options
    if (this.#fault) onChange({ url, why: undefined })
    this.#fault = undefined
  }

  #refuse(fault: RequestError): void {
    const { url, onChange } = this.#options
    if (this.#fault?.message !== fault.message) onChange({ url, why: withCause(fault) })
    this.#fault = fault
    this.#lookableAt = performance.now() + FAULT_INTERVAL_MS
  }

  #haveSeen(version: bigint): void {
    // Servers behind one address may differ by a few versions.
    const known = this.#announced
    if (!known || version >= known.version || isOld(known.at)) this.#announced = { version, at: performance.now() }
  }

  #heedRetryAfter(headers: Headers): void {
    const asked = retryAfterOf(headers)
    if (asked === undefined) return
    this.#askableAt = Math.max(this.#askableAt, performance.now() + Math.max(asked, SHORTEST_RETRY_AFTER_MS))
  }
}

/** The milliseconds, at most an hour, that an upstream asks to wait; undefined if it does not. */
export function retryAfterOf(headers: Headers): number | undefined {
  return parseRetryAfter(headers.get('retry-after'), LONGEST_RETRY_AFTER_MS)
}

/** Whether a status is one of success. */
export function isOk(status: number): boolean {
  return status >= 200 && status < 300
}

function isOld(at: number): boolean {
  return performance.now() - at > ANNOUNCEMENT_HOLDS_MS
}

/** Message for the operator with the cause, which may name hosts and is not sent to clients. */
function withCause(fault: RequestError): string {
  const { cause } = fault
  return cause instanceof Error ? `${fault.message}: ${fetchFailure(cause)}` : fault.message
}

function parseInfo(bytes: Uint8Array): { readonly chain_id?: unknown; readonly ledger_version?: unknown } {
  try {
    const info: unknown = JSON.parse(Buffer.from(bytes).toString())
    return typeof info === 'object' && info !== null ? info : {}
  } catch {
    return {}
  }
}
