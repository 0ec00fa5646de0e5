import type { LedgerInfo } from '@ledger-state/core'
import type { Ledger, LedgerState } from '@ledger-state/ledger'
import type { OutputFormat } from './accept.js'

/** JSON Schema 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = Readonly<Record<string, unknown>>

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query'
  readonly description: string
  readonly schema: JsonSchema
}

/** What an operation may know of a request. Its parts are read when they are asked for, in the order of the reference. */
export interface OperationRequest {
  readonly accept: string | undefined
  readonly contentType: string | undefined
  /** The `If-None-Match` header. */
  readonly ifNoneMatch: string | undefined
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>
  /** Behind the `?`, as it was sent. */
  readonly query: string
  readonly body: Buffer | undefined
  /** Pins the ledger at a version; the headers of the answer, also of an error, then describe that state. */
  pin(version: bigint | undefined): LedgerState
  /** @throws `output_disabled` where the server does not answer in the format */
  expectOutput(format: OutputFormat, what: string): void
}

export interface Answer {
  readonly ledger: LedgerInfo
  readonly format: OutputFormat
  /** A string is ASCII. */
  readonly body: string | Uint8Array
  /** Set where the same request will always have the same body. */
  readonly etag?: string
  /** The client has this body already: its tag is the one of `If-None-Match`. */
  readonly notModified?: boolean
}

/** An operation of the service: how it is asked, how it is described, and what it does. */
export interface Operation {
  readonly id: string
  readonly method: 'GET' | 'POST'
  /** With `{name}` for path parameters. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: JsonSchema
  /** What a 200 carries, by format. */
  readonly success: Readonly<Partial<Record<OutputFormat, JsonSchema>>>
  /** Statuses of errors that it may answer with. */
  readonly errors: readonly number[]
  handle(request: OperationRequest): Answer
}

export interface OperationContext {
  readonly ledger: Ledger
  readonly headerWord: string
  readonly archivalEndpoint: string | undefined
}

export const LEDGER_VERSION_PARAMETER: Parameter = {
  name: 'ledger_version',
  in: 'query',
  description: 'Ledger version at which state is read; the latest when omitted.',
  schema: { $ref: '#/components/schemas/U64' },
}

/** Statuses that every operation on state shares. */
export const STATE_ERRORS = [400, 403, 404, 410, 500, 503] as const
export const BODY_ERRORS = [...STATE_ERRORS, 413, 415] as const
