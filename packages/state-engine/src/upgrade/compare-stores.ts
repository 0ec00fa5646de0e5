import { Buffer } from 'node:buffer'
import { isSameBlock, type Revision } from '@ledger-state/core'
import { upgradeDiffers } from '../port/errors.js'
import type { StateEngineReader } from '../port/ports.js'
import type { Layout3Key } from './layout-3-records.js'
import type { Layout3Store } from './layout-3-store.js'
import type { Pace } from './pace.js'

const BETWEEN_TURNS = 1_000

/**
 * Compares everything that the window of a store holds with a copy: ledger, mark, each block, each write of each key.
 * Returns the number of keys, of which the copy must have as many records, and none besides.
 * @throws `store_corrupt` at the first difference
 */
export async function compareStores(source: Layout3Store, copy: StateEngineReader, pace: Pace): Promise<number> {
  compareLedgers(source, copy)
  await compareBlocks(source, copy, pace)
  const total = source.keyCount
  let done = 0
  let keys = 0
  for (const key of source.keys({})) {
    if (done % BETWEEN_TURNS === 0) await pace.report({ step: 'comparison', done, total })
    if (compareKey(source, copy, key)) keys++
    done++
  }
  return keys
}

function compareLedgers({ content, mark }: Layout3Store, copy: StateEngineReader): void {
  const [theirs, ours] = [content.ledger, copy.ledger!]
  for (const what of ['chainId', 'latestVersion', 'oldestVersion'] as const) {
    if (theirs[what] !== ours[what]) throw upgradeDiffers(`${what} is ${ours[what]}, not ${theirs[what]}`)
  }
  for (const what of ['latestBlock', 'oldestBlock'] as const) {
    if (!isSameBlock(theirs[what], ours[what])) throw upgradeDiffers(`${what} is another`)
  }
  if (content.base.complete !== copy.base!.complete) throw upgradeDiffers('one base is complete, the other is not')
  if (!isSame(mark, copy.mark)) throw upgradeDiffers('the mark of the newest commit is another')
}

async function compareBlocks(source: Layout3Store, copy: StateEngineReader, pace: Pace): Promise<void> {
  const { oldestVersion, latestVersion } = source.content.ledger
  let expected: bigint | undefined
  let done = 0
  for (const { version, block } of source.blocks(oldestVersion)) {
    const found = copy.blockAt(version)
    const isSound = found.firstVersion === version && isSameBlock(found.block, block)
    if (!isSound || (expected !== undefined && expected !== version))
      throw upgradeDiffers(`the block of version ${version}`)
    expected = found.lastVersion + 1n
    if (++done % BETWEEN_TURNS === 0) await pace.turn()
  }
  if (expected !== latestVersion + 1n) throw upgradeDiffers('its last block ends at another version')
}

/** Returns whether the window sees the key. */
function compareKey(source: Layout3Store, copy: StateEngineReader, record: Layout3Key): boolean {
  const key = source.keyOf(record)
  const found = copy.history(key, { order: 'oldestFirst' })[Symbol.iterator]()
  let isSeen = false
  for (const { version, value } of revisions(source, record)) {
    isSeen = true
    const next = found.next()
    const isEqual = !next.done && next.value.version === version && isSame(next.value.value, value)
    if (!isEqual) throw upgradeDiffers(`what version ${version} wrote to ${nameOf(key)}`)
  }
  if (!found.next().done) throw upgradeDiffers(`it has more writes of ${nameOf(key)}`)
  return isSeen
}

/** As `history`, the oldest first: what is below the oldest version counts only if that version sees it. */
function* revisions(source: Layout3Store, key: Layout3Key): Generator<Revision> {
  const { oldestVersion } = source.content.ledger
  for (const { version, supersededBy } of source.writes(key, oldestVersion)) {
    if (supersededBy !== undefined && supersededBy <= oldestVersion) continue
    const value = source.value(key, supersededBy)
    if (value !== null || version > oldestVersion) yield { version, value }
  }
}

function isSame(a: Uint8Array | null | undefined, b: Uint8Array | null | undefined): boolean {
  return a && b ? Buffer.compare(a, b) === 0 : (a ?? null) === (b ?? null)
}

function nameOf(key: Uint8Array): string {
  return `the key ${Buffer.from(key.subarray(0, 32)).toString('hex')}${key.length > 32 ? '…' : ''}`
}
