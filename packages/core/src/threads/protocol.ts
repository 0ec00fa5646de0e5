import type { ErrorFields } from '../error.js'

/** A request as it is sent. The number tells which request a reply answers. */
export interface NumberedRequest<Request> {
  readonly number: number
  readonly request: Request
}

/** Message to a thread: a request, or `undefined`, which ends the thread after the requests before it. */
export type ThreadMessage<Request> = NumberedRequest<Request> | undefined

/** Reply of a thread. A `LedgerStateError` is sent in parts, because a structured clone of it is a plain `Error`. */
export type ThreadReply<Result> = { readonly number: number } & (
  | { readonly result: Result }
  | { readonly failure: { readonly code: string; readonly message: string; readonly fields: ErrorFields } }
  | { readonly crash: unknown }
)
