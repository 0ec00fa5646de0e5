import type { KeyedEntry, VersionWrites, Write } from '@ledger-state/core'
import { upgradeOfOther } from '../port/errors.js'
import type { StateWriter } from '../port/ports.js'
import type { Layout3Store } from './layout-3-store.js'
import type { Pace } from './pace.js'
import { countWrites, sortWrites } from './sort-writes.js'

/** About how much is done at a time. */
export interface CopyLimits {
  readonly partEntries: number
  readonly partBytes: number
  /** The more a commit has, the more writes of a page are made in one. */
  readonly commitWrites: number
  readonly commitBytes: number
  readonly commitVersions: number
  /** Memory for writes that are sorted at a time. With less, there are more passes over all keys. */
  readonly sortBytes: number
}

const LIMITS: CopyLimits = {
  partEntries: 5_000,
  partBytes: 8 * 2 ** 20,
  commitWrites: 1_000_000,
  commitBytes: 128 * 2 ** 20,
  commitVersions: 500_000,
  sortBytes: 128 * 2 ** 20,
}

/**
 * Copies a store: imports the state at its oldest version, then commits the versions after it. Resumes what an interrupted
 * copy left in the target.
 * @param folder of the target, for messages
 * @throws `store_not_empty` where the target holds another store
 */
export async function copyStore(
  source: Layout3Store,
  target: StateWriter,
  folder: string,
  pace: Pace,
  limits: CopyLimits = LIMITS,
): Promise<void> {
  if (!target.ledger) await importOldestState(source, target, pace, limits)
  expectCopyOf(source, target, folder)
  await copyVersions(source, target, pace, limits)
}

async function importOldestState(
  source: Layout3Store,
  target: StateWriter,
  pace: Pace,
  { partEntries, partBytes }: CopyLimits,
): Promise<void> {
  const { ledger, base } = source.content
  const { oldestVersion, latestVersion, oldestBlock, chainId } = ledger
  const state = await target.beginImport(oldestVersion, { resume: true })
  let part: KeyedEntry[] = []
  let bytes = 0
  let position = state.mark
  // Keys before that of the mark, which may have no entry.
  let done = state.entryCount
  await pace.report({ step: 'state', done, total: source.keyCount })
  for (const key of source.keys({ after: position })) {
    done++
    position = key.stored
    const write = source.writes(key, oldestVersion)[0]!
    const value = write.version <= oldestVersion ? source.value(key, write.supersededBy) : null
    if (value) {
      part.push({ key: source.keyOf(key), version: write.version, value })
      bytes += value.length
    }
    if (part.length < partEntries && bytes < partBytes) continue
    await state.add(part, position)
    pace.atFailurePoint('upgrade: part copied')
    await pace.report({ step: 'state', done, total: source.keyCount })
    part = []
    bytes = 0
  }
  await state.add(part, position)
  const mark = oldestVersion === latestVersion ? source.mark : undefined
  await state.finish({ chainId, block: oldestBlock, complete: base.complete, mark })
  pace.atFailurePoint('upgrade: state copied')
}

function expectCopyOf(source: Layout3Store, target: StateWriter, folder: string): void {
  const [theirs, ours] = [source.content.ledger, target.ledger!]
  const why =
    ours.chainId !== theirs.chainId
      ? `of chain ${ours.chainId}, not ${theirs.chainId}`
      : ours.oldestVersion !== theirs.oldestVersion
        ? `whose oldest version is ${ours.oldestVersion}, not ${theirs.oldestVersion}`
        : ours.latestVersion > theirs.latestVersion
          ? `up to version ${ours.latestVersion}, not ${theirs.latestVersion}`
          : undefined
  if (why) throw upgradeOfOther(folder, why)
}

async function copyVersions(
  source: Layout3Store,
  target: StateWriter,
  pace: Pace,
  { commitWrites, commitBytes, commitVersions, sortBytes }: CopyLimits,
): Promise<void> {
  const { chainId, latestVersion } = source.content.ledger
  const first = target.ledger!.latestVersion + 1n
  if (first > latestVersion) return
  const counts = await countWrites(source, first, latestVersion, pace)
  const total = counts.writes
  let done = 0
  await pace.report({ step: 'versions', done, total })
  let batch: VersionWrites[] = []
  let left = { writes: commitWrites, bytes: commitBytes }
  const sorted = sortWrites(source, counts, sortBytes, pace)
  for await (const record of versions(source, first, latestVersion, sorted)) {
    batch.push(record)
    left.writes -= record.writes.length
    for (const [key, value] of record.writes) left.bytes -= key.length + (value?.length ?? 0)
    done += record.writes.length
    const isLast = record.version === latestVersion
    if (!isLast && left.writes > 0 && left.bytes > 0 && batch.length < commitVersions) continue
    await target.commit(batch, { chainId, mark: isLast ? source.mark : undefined })
    pace.atFailurePoint('upgrade: versions committed')
    await pace.report({ step: 'versions', done, total })
    batch = []
    left = { writes: commitWrites, bytes: commitBytes }
  }
}

/** Every version of a range, with its writes, which come in their order. */
async function* versions(
  source: Layout3Store,
  first: bigint,
  last: bigint,
  sorted: ReturnType<typeof sortWrites>,
): AsyncGenerator<VersionWrites> {
  const blocks = source.blocks(first)
  let nextBlock = blocks.next().value
  let version = first
  let writes: Write[] = []
  const finish = (): VersionWrites => {
    const begins = nextBlock?.version === version
    const record = { version, block: begins ? nextBlock!.block : undefined, writes }
    if (begins) nextBlock = blocks.next().value
    version++
    writes = []
    return record
  }
  for await (const { version: written, key, supersededBy } of sorted) {
    while (version < written) yield finish()
    writes.push([key.key, source.value(key, supersededBy)])
  }
  while (version <= last) yield finish()
}
