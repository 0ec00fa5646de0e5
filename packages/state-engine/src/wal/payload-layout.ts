// The payload of a commit in a WAL file. Numbers are big-endian.
//   u64 chain id | u8 1 if there is a mark: u32 length, bytes | u64 first version | u32 versions, then each version:
//     u8 1 if it begins a block: u64 height, u64 epoch, u64 time | u32 entries, then each entry (memtable/entry-layout.ts)
// The entries of a version have different keys.
//
// Without versions, `first version` is the newest version of the ledger. If nothing follows, the record only replaces
// the mark. Otherwise it is a truncation to that version, followed by
//   u64 number of the truncation | block of that version: u64 height, u64 epoch, u64 time

export const COMMIT_HEADER_LENGTH = 8 + 1 + 8 + 4
export const MARK_HEADER_LENGTH = 4
export const TRUNCATION_LENGTH = 8 + 24
export const VERSION_HEADER_LENGTH = 1 + 4
export const BLOCK_LENGTH = 24
