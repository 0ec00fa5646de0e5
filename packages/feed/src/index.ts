export { BACKUP_FAULTS, type FeedErrorCode, signedLedgerDiffers } from './errors.js'
export { type JsonLimits, tryBoundedJson } from './files/bounded-json.js'
export { KNOWN_NETWORKS, type Network, parseNetwork } from './networks/network.js'
export { FETCH_ENCODINGS } from './requests/fetch-encodings.js'
export { type CheckedEndings, checkEndings } from './signatures/check-endings.js'
export { FailureStreak, type FailureStreakOptions } from './sources/failure-streak.js'
export { openNetwork } from './sources/open-network.js'
export { openSource } from './sources/open-source.js'
export { openSharedFiles, type SharedFiles, type SharedFilesOptions } from './sources/shared-files.js'
export { openSharedTarget, type SharedTarget, type SharedTargetOptions } from './sources/shared-target.js'
export type {
  LedgerSource,
  LedgerVersion,
  Reading,
  SignedRangeReading,
  SourceOptions,
  SourceProgress,
  StateBase,
  StateDescription,
  StatePart,
} from './sources/source.js'
export type { SignedVersion } from './sources/trusted-state.js'
export {
  type BlockPathFiles,
  type BlockPaths,
  type BlockState,
  createBlockPaths,
  type PathValue,
  type PathWork,
} from './state-root/block-paths.js'
export {
  type Cut,
  type CutFile,
  type CutPlace,
  CutWriter,
  MOST_CUT_DEPTH,
  openCutFile,
  type StoredCut,
} from './state-root/cut-file.js'
export type { EntryPages } from './state-root/hash-pages.js'
export { type KeyLists, type KeysFile, openKeysFile } from './state-root/keys-file.js'
export { type LeavesFile, openLeavesFile } from './state-root/leaves-file.js'
export type { RangeFinish, RangeKeys, RangeRoots, RootRange } from './state-root/root-range.js'
export { openRootRanges, type RootRanges, type RootRangesOptions } from './state-root/root-ranges.js'
export { computeStateRoot, type StateRoot, type StateRootOptions } from './state-root/state-root.js'
export { openStateTree, type StateTree } from './state-root/state-tree.js'
export { listStateTrees, removeOldTrees } from './state-root/tree-files.js'
export { type StateTreeOptions, type WrittenTree, writeStateTree } from './state-root/write-state-tree.js'
export type { FetchPlan, PlanOptions, WantedWindow, WindowBound } from './window/wanted-window.js'
export { type FeedHead, headToFeedLine } from './wire/feed-head.js'
export type { FeedStart } from './wire/feed-line.js'
export { feedHeaderLine, stateToFeedLine, versionToFeedLine } from './wire/feed-line-writer.js'
