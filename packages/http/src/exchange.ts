import type { IncomingMessage, ServerResponse } from 'node:http'
import type { LedgerInfo } from '@ledger-state/core'
import type { Ledger, LedgerState } from '@ledger-state/ledger'
import type { OperationRequest } from './operation.js'

/** A request and its response, whichever way it was routed. */
export class Exchange implements OperationRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Path of its operation, as the OpenAPI document has it. */
  route = 'other'
  params: Readonly<Record<string, string>> = {}
  body: Buffer | undefined = undefined
  /** The ledger state that the request was read at; headers of its answer describe this one. */
  pinned: LedgerInfo | undefined = undefined
  /** When its headers were in, in milliseconds of `performance.now`. */
  readonly arrivedAt: number
  readonly expectOutput: OperationRequest['expectOutput']
  readonly #ledger: Ledger

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    ledger: Ledger,
    expectOutput: OperationRequest['expectOutput'],
  ) {
    this.request = request
    this.response = response
    this.arrivedAt = performance.now()
    this.expectOutput = expectOutput
    this.#ledger = ledger
  }

  get accept(): string | undefined {
    return this.request.headers.accept
  }

  get contentType(): string | undefined {
    return this.request.headers['content-type']
  }

  get ifNoneMatch(): string | undefined {
    return this.request.headers['if-none-match']
  }

  get query(): string {
    const url = this.request.url!
    const at = url.indexOf('?')
    return at < 0 ? '' : url.slice(at + 1)
  }

  pin(version: bigint | undefined): LedgerState {
    const state = this.#ledger.at(version)
    this.pinned = state.ledger
    return state
  }
}
