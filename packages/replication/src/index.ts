export type { ReplicationErrorCode } from './errors.js'
export { type BegunSnapshot, type FetchSnapshotOptions, fetchSnapshot } from './fetch/fetch-snapshot.js'
export { type JoinedRanges, type JoinRangesOptions, joinRanges } from './ranges/join-ranges.js'
export { createFeedListener, type FeedListener, type FeedListenerOptions } from './serve/feed-listener.js'
