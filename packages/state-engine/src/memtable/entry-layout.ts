// An entry of a segment, as in the payload of its commit. Numbers are big-endian.
//   u32 key length | u32 value length, ffffffff for a deletion | key | value

export const ENTRY_HEADER_LENGTH = 8
/** Length that means a deletion. */
export const DELETION = 0xffff_ffff
