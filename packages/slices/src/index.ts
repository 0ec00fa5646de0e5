export type { SliceErrorCode, SliceKeepingErrorCode } from './errors.js'
export { type JoinMoment, type SliceCounts, SliceKeeper } from './keep/slice-keeper.js'
export {
  type ListedMember,
  type ListMembersOptions,
  listMembers,
  type MemberListing,
  readSlice,
} from './read/list-members.js'
export { OUTSIDE_OF_SLICE } from './read/outside.js'
export {
  measureMember,
  readSliceLines,
  readSliceMembers,
  readSliceStatus,
  type SliceStatus,
  sliceDigestOf,
} from './read/slice-status.js'
export { SlicedReader, type SlicedView } from './read/sliced-reader.js'
export { isFrameworkAt } from './spec/always-kept.js'
export type { IdList } from './spec/packed-ids.js'
export {
  decodeSliceRecord,
  encodeSliceRecord,
  readLeftOut,
  type SliceMember,
  type SliceRecord,
} from './spec/slice-record.js'
export {
  parseSliceLines,
  parseSliceSpec,
  type SliceLine,
  type SliceSpec,
  type SliceTexts,
  sliceDigest,
  sliceSpecToLines,
} from './spec/slice-spec.js'
export { matchesType, parseTypePattern, type TypePattern, typePatternToText } from './spec/type-pattern.js'
