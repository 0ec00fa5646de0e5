// Holds the members of a slice in memory, as an ingest reads them from a store, in a separate process. Argument: number
// of members. Sends to its parent the bytes by which the process grew, and the nanoseconds of a look-up for a key
// outside of the slice.
import { ADDRESS_LENGTH } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import { memberKey } from '@ledger-state/records'
import { encodeSliceRecord, parseSliceSpec, SliceKeeper } from '@ledger-state/slices'
import { tableItemKey } from '@ledger-state/type-tag'

const LOOKS = 1_000_000
const members = Number(process.argv[2])

const record = encodeSliceRecord(parseSliceSpec({ accounts: ['0x1'] }))
// Member with a kept owner, known whole, since version 0. See `records/src/slice/member.ts`.
const member = Uint8Array.of(1, 1, 0, 0, 0, 0, 0, 0, 0, 0)
const id = new Uint8Array(ADDRESS_LENGTH)
const numbers = new DataView(id.buffer)

function idOf(number: number): Uint8Array {
  // Addresses are hashes, so their bytes are spread.
  for (let at = 0; at < ADDRESS_LENGTH; at += 4) numbers.setUint32(at, Math.imul(number + 1, 0x9e3779b1 + 2 * at))
  numbers.setUint32(0, number)
  return id
}

globalThis.gc?.()
const before = process.memoryUsage.rss()
const keeper = SliceKeeper.resume(record)
for (let number = 0; number < members; number++) keeper.restore(memberKey('account', idOf(number)), member)
globalThis.gc?.()
const grown = process.memoryUsage.rss() - before

const outside = Array.from({ length: 1_000 }, (_, at) => copyBytes(tableItemKey(idOf(members + at), Uint8Array.of(1))))
let kept = 0
const began = performance.now()
for (let look = 0; look < LOOKS; look++) if (keeper.has(outside[look % outside.length]!)) kept++
const nanoseconds = ((performance.now() - began) * 1e6) / LOOKS
if (kept > 0) throw new Error('a key outside is kept')
process.send!({ grown, nanoseconds, accounts: keeper.counts.accounts })
process.disconnect()
