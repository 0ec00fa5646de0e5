import type { RecordBuilder } from '../bytes/record.js'
import type { SharedRecord } from '../lmdb/shared-record.js'

// A fence leads to superseded values of a key: u64 first version | u8 level | u48 number in the history log of a chunk
// (level 0) or of a node, which has fences of the level below. Fences of a key ascend by first version and descend by
// level; the interval of one ends where the next begins.

export interface Fence {
  readonly firstVersion: bigint
  readonly level: number
  readonly number: number
}

export const FENCE_LENGTH = 15
const LEVEL_AT = 8
const NUMBER_AT = 9

export function addFence(builder: RecordBuilder, { firstVersion, level, number }: Fence): RecordBuilder {
  return builder.u64(firstVersion).u8(level).u48(number)
}

/** Number of fences, of `count` from `at` on, that begin at or below a version, given as halves. */
export function countFencesAtMost(view: DataView, at: number, count: number, high: number, low: number): number {
  let least = 0
  let most = count
  while (least < most) {
    const middle = (least + most) >> 1
    const fenceAt = at + FENCE_LENGTH * middle
    const fenceHigh = view.getUint32(fenceAt)
    if (fenceHigh < high || (fenceHigh === high && view.getUint32(fenceAt + 4) <= low)) least = middle + 1
    else most = middle
  }
  return least
}

export function fenceLevel(record: SharedRecord, at: number): number {
  return record.bytes[at + LEVEL_AT]!
}

export function fenceNumber(record: SharedRecord, at: number): number {
  return record.u48(at + NUMBER_AT)
}

/** Decodes `count` fences from `at` on. */
export function readFences({ view }: { readonly view: DataView }, at: number, count: number): Fence[] {
  return Array.from({ length: count }, (_, place) => {
    const fenceAt = at + FENCE_LENGTH * place
    return {
      firstVersion: view.getBigUint64(fenceAt),
      level: view.getUint8(fenceAt + LEVEL_AT),
      number: view.getUint16(fenceAt + NUMBER_AT) * 2 ** 32 + view.getUint32(fenceAt + NUMBER_AT + 2),
    }
  })
}
