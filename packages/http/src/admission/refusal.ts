import type { RequestError } from '../errors.js'

/** Reason to answer a request with an error and then close its connection. */
export class Refusal extends Error {
  readonly reason: RequestError

  constructor(reason: RequestError) {
    super(reason.message)
    this.reason = reason
  }
}
