import { ByteReader, smaller } from '@ledger-state/core'
import type { AsyncStateReader, StateEngineReader } from '@ledger-state/engine'
import { readLedgerInfo } from '@ledger-state/proof'
import { EPOCH_ENDING_PREFIX, epochEndingKey, epochOfKey } from '@ledger-state/records'
import { unpackEnding } from '@ledger-state/records/epoch-change'
import { scanEntries } from '../scan-entries.js'
import { pendingEndings, pendingValues } from './pending-writes.js'

/** Endings that are unpacked together. One in 32 is packed without the ending before it. */
const STRIDE = 32n

/** Range of the epoch changes that a store keeps. */
export interface EpochChangeRange {
  /** Version of the first ending; undefined for the oldest that is kept. */
  readonly version: bigint | undefined
  /** Epoch of the last ending at most. */
  readonly lastEpoch: bigint
  /** Bytes after which no further ending is added. */
  readonly maxBytes: number
}

type LoadValues = (keys: readonly Uint8Array[]) => Promise<(Uint8Array | undefined)[]>

/**
 * Reads the epoch changes that a store keeps, starting with the one at a version, in the form of backups. It checks
 * nothing.
 * @returns undefined if the store keeps no epoch change at the version
 * @throws `untrusted` if one is damaged; `no_ledger`
 */
export async function readEpochChangeRange(
  engine: StateEngineReader | AsyncStateReader,
  { version, lastEpoch, maxBytes }: EpochChangeRange,
): Promise<Uint8Array[] | undefined> {
  const { load, first } = await openEndings(engine)
  if (first === undefined || lastEpoch < first) return undefined
  const epoch = version === undefined ? first : await findEpoch(load, first, lastEpoch, version)
  if (epoch === undefined) return undefined
  const found: Uint8Array[] = []
  let bytes = 0
  for (let at = strideOf(epoch, first); at <= lastEpoch; at = strideOf(at + STRIDE, first)) {
    const last = smaller(strideOf(at + STRIDE, first) - 1n, lastEpoch)
    for (const [index, ending] of (await loadStride(load, at, last)).entries()) {
      if (at + BigInt(index) < epoch) continue
      if (!ending || (found.length > 0 && bytes > maxBytes)) return found
      bytes += ending.length
      found.push(ending)
    }
  }
  return found
}

/** The epoch that ends at a version. */
async function findEpoch(load: LoadValues, first: bigint, last: bigint, version: bigint): Promise<bigint | undefined> {
  let [low, high] = [first, last]
  while (low <= high) {
    const middle = (low + high) / 2n
    const [ending] = (await loadStride(load, strideOf(middle, first), middle)).slice(-1)
    if (!ending) high = middle - 1n
    else {
      const found = readLedgerInfo(new ByteReader(ending)).version
      if (found === version) return middle
      if (found < version) low = middle + 1n
      else high = middle - 1n
    }
  }
  return undefined
}

/** The first epoch that must be unpacked to read the ending of an epoch. */
function strideOf(epoch: bigint, first: bigint): bigint {
  const start = epoch - (epoch % STRIDE)
  return start < first ? first : start
}

/** Loads the epoch changes after the start of a stride; undefined for each that is not kept. */
async function loadStride(load: LoadValues, start: bigint, last: bigint): Promise<(Uint8Array | undefined)[]> {
  const epochs = Array.from({ length: Number(last - start) + 1 }, (_, at) => start + BigInt(at))
  const packed = await load(epochs.map(epochEndingKey))
  let previous: Uint8Array | undefined
  return epochs.map((epoch, at) => {
    const value = packed[at]
    previous = value && unpackEnding({ epoch, packed: value }, previous)
    return previous
  })
}

async function openEndings(engine: StateEngineReader | AsyncStateReader) {
  if (engine.kind === 'sync') {
    const { mark } = engine
    const view = engine.at()
    const load: LoadValues = async (keys) => orPending(keys, view.getMany(keys), mark)
    for (const { key } of view.scan(EPOCH_ENDING_PREFIX)) return { load, first: epochOfKey(key) }
    return { load, first: firstPending(mark) }
  }
  const snapshot = await engine.snapshot()
  const view = snapshot.at()
  const load: LoadValues = async (keys) => {
    const entries = await view.load(keys)
    return orPending(
      keys,
      entries.map((entry) => entry?.value),
      snapshot.mark,
    )
  }
  const [oldest] = await scanEntries(view, EPOCH_ENDING_PREFIX, { limit: 1 })
  return { load, first: oldest ? epochOfKey(oldest.key) : firstPending(snapshot.mark) }
}

/** Values that the store has or, if it has none, that the next commit writes. */
function orPending(
  keys: readonly Uint8Array[],
  values: readonly (Uint8Array | undefined)[],
  mark: Uint8Array | undefined,
): (Uint8Array | undefined)[] {
  const pending = pendingValues(mark)
  return keys.map((key, at) => values[at] ?? pending(key))
}

function firstPending(mark: Uint8Array | undefined): bigint | undefined {
  const [first] = pendingEndings(mark)
  return first && epochOfKey(first[0])
}
