/** The state at which an answer was read, from the answer's headers. */
export interface StateHead {
  readonly chainId: string
  readonly version: string
  readonly oldestVersion: string
  readonly timestampUsec: string
  readonly height: string
  readonly oldestHeight: string
  readonly epoch: string
}
