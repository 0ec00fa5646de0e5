/** Places where tests end the process or abort the work. */
export type FailurePoint =
  | 'commit: began'
  | 'commit: log written'
  | 'commit: latest written'
  | 'commit: before the transaction ends'
  | 'commit: done'
  | 'prune: floor raised'
  | 'prune: step before the transaction ends'
  | 'prune: step done'
  | 'import: part done'
  | 'import: before it counts'

let onReach: ((point: FailurePoint) => void) | undefined

export function atFailurePoint(point: FailurePoint): void {
  onReach?.(point)
}

/** For tests of this package. */
export function setFailurePointHandler(handler: ((point: FailurePoint) => void) | undefined): void {
  onReach = handler
}
