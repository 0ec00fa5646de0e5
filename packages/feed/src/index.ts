export { parseGenesis } from './genesis.js'
export { type FeedStart, feedHeaderLine, stateToFeedLine, versionToFeedLine } from './ledger-feed-writer.js'
export { DEFAULT_HASH_SALT } from './ledger-hasher.js'
export { openSource } from './open-source.js'
export type {
  LedgerSource,
  Reading,
  SourceOptions,
  SourceProgress,
  StateBase,
  StateDescription,
  StateEntryRecord,
  StatePart,
} from './source.js'
