/** Places where tests end the process or abort the work. */
export type FailurePoint =
  | 'commit: began'
  | 'commit: appended'
  | 'commit: synced'
  | 'commit: done'
  | 'rotation: file created'
  | 'rotation: sealed'
  | 'bulk: file created'
  | 'bulk: before the transaction ends'
  | 'bulk: committed'
  | 'merge: before the transaction ends'
  | 'merge: slice done'
  | 'merge: before the last transaction ends'
  | 'merge: done'
  | 'merge: file removed'
  | 'truncation: appended'
  | 'truncation: synced'
  | 'truncation: file created'
  | 'truncation: before the transaction ends'
  | 'truncation: committed'
  | 'truncation: slice before the transaction ends'
  | 'truncation: slice done'
  | 'truncation: before the last transaction ends'
  | 'truncation: done'
  | 'prune: floor raised'
  | 'prune: step before the transaction ends'
  | 'prune: step done'
  | 'import: part done'
  | 'import: before it counts'

/** Called at each point. Tests end the process there, or throw to abort the work. */
export type AtFailurePoint = (point: FailurePoint) => void

/** Of engines that are not under test. */
export const neverFail: AtFailurePoint = () => {}
