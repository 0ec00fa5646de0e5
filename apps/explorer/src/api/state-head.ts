/** What an answer says of the state that it was read at. */
export interface StateHead {
  readonly chainId: string
  readonly version: string
  readonly oldestVersion: string
  readonly timestampUsec: string
  readonly height: string
  readonly oldestHeight: string
  readonly epoch: string
}
