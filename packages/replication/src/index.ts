export type { ReplicationErrorCode } from './errors.js'
export { createFeedListener, type FeedListener, type FeedListenerOptions } from './feed-listener.js'
export { type BegunSnapshot, type FetchSnapshotOptions, fetchSnapshot } from './fetch-snapshot.js'
