export type { FunctionAbi, ModuleAbi, StructAbi, TypeParameterAbi } from '@ledger-state/move-module'
export type { AccountChange, AccountChangesOptions, ChangedStore } from './account-diff/account-changes.js'
export type { Account, AccountFields } from './accounts/account.js'
export { type AsyncLedger, type AsyncLedgerOptions, createAsyncLedger } from './async/async-ledger.js'
export { type Asset, parseAsset } from './balances/asset.js'
export { pairedMetadataAddress, primaryStoreAddress } from './balances/derived-address.js'
export type { LedgerBlock } from './blocks/read-block.js'
export type { CacheUse } from './caches/cache-use.js'
export { createLedger } from './create-ledger.js'
export type { LedgerErrorCode } from './errors.js'
export { ChangeSampler, type SampledRange } from './histories/change-sampler.js'
export type { Change, ChangeHistoryOptions, History, ReadableChange, UnreadableChange } from './histories/history.js'
export type { CacheName, Ledger, LedgerState } from './ledger.js'
export type { Listing, ListOptions } from './listings/listing.js'
export { type JoinMoment, type SliceCounts, SliceKeeper } from './membership/slice-keeper.js'
export type { AccountModule } from './modules/account-module.js'
export type { Resource } from './resources/resource.js'
export { decodeSliceLeftOut, encodeSliceLeftOut, type SliceLeftOut } from './slices/left-out.js'
export type { ListedMember, ListMembersOptions, MemberListing } from './slices/list-members.js'
export { OUTSIDE_OF_SLICE } from './slices/outside.js'
export type { IdList } from './slices/packed-ids.js'
export {
  decodeMember,
  decodeSliceRecord,
  encodeSliceRecord,
  MEMBER_REASONS,
  type MemberKind,
  type MemberReason,
  type MemberRecord,
  memberKey,
  type SliceMember,
  type SliceRecord,
} from './slices/slice-records.js'
export {
  parseSliceLines,
  parseSliceSpec,
  type SliceLine,
  type SliceSpec,
  type SliceTexts,
  sliceDigest,
  sliceSpecToLines,
} from './slices/slice-spec.js'
export { parseTypePattern, type TypePattern, typePatternToText } from './slices/type-pattern.js'
export type { FoundTableTypes, TableTypesSearch } from './tables/find-table-types.js'
export type { ListedTableItem, TableTypes } from './tables/list-table-items.js'
export type { TableItemRequest } from './tables/table-item.js'
export { formatTimestamp } from './times/format-timestamp.js'
export { firstVersionOf, lastVersionOf, type Moment, parseMoment } from './times/moment.js'
export { parseInterval } from './times/parse-interval.js'
export { parseTimestamp } from './times/parse-timestamp.js'
export { ReadTrace } from './traces/read-trace.js'
export type { TypeUse, TypeUses } from './type-usage/list-type-uses.js'
export type { StructName } from './type-usage/tag-names.js'
export type { StoredValue } from './types/stored-value.js'
export { isUnreadable } from './types/unreadable.js'
export type { ViewSample } from './views/sample-points.js'
export type { StartedView, ViewReport } from './views/started-view.js'
export type { ViewAnswer, ViewHistory, ViewHistoryOptions } from './views/view-history.js'
export type { ViewRequest } from './views/view-request.js'
export type { StartViewOptions } from './views/view-runner.js'
