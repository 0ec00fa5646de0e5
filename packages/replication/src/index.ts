export type { ReplicationErrorCode } from './errors.js'
export { type BegunSnapshot, type FetchSnapshotOptions, fetchSnapshot } from './fetch/fetch-snapshot.js'
export { createFeedListener, type FeedListener, type FeedListenerOptions } from './serve/feed-listener.js'
