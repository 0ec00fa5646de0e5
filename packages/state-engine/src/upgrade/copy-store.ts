import type { KeyedEntry, VersionWrites, Write } from '@ledger-state/core'
import { upgradeOfOther } from '../port/errors.js'
import type { StateWriter } from '../port/ports.js'
import type { Layout3Store } from './layout-3-store.js'
import type { Pace } from './pace.js'
import { countWrites, sortWrites } from './sort-writes.js'

/** One part of the import, or one commit, has at most about so much. */
const BATCH_ENTRIES = 5_000
const BATCH_BYTES = 8 * 2 ** 20
const BATCH_VERSIONS = 10_000

/**
 * Copies a store: imports the state at its oldest version, then commits the versions after it. Resumes what an interrupted
 * copy left in the target.
 * @param folder of the target, for messages
 * @throws `store_not_empty` where the target holds another store
 */
export async function copyStore(source: Layout3Store, target: StateWriter, folder: string, pace: Pace): Promise<void> {
  if (!target.ledger) await importOldestState(source, target, pace)
  expectCopyOf(source, target, folder)
  await commitVersions(source, target, pace)
}

async function importOldestState(source: Layout3Store, target: StateWriter, pace: Pace): Promise<void> {
  const { ledger, base } = source.content
  const { oldestVersion, latestVersion, oldestBlock, chainId } = ledger
  const state = await target.beginImport(oldestVersion, { resume: true })
  let part: KeyedEntry[] = []
  let bytes = 0
  // Keys before that of the mark, which may have no entry.
  let done = state.entryCount
  await pace.report({ step: 'state', done, total: source.keyCount })
  for (const key of source.keys({ after: state.mark })) {
    done++
    const write = source.writes(key, oldestVersion)[0]!
    const value = write.version <= oldestVersion ? source.value(key, write.supersededBy) : null
    if (value) {
      part.push({ key: source.keyOf(key), version: write.version, value })
      bytes += value.length
    }
    if (part.length < BATCH_ENTRIES && bytes < BATCH_BYTES) continue
    await state.add(part, key.stored)
    await pace.report({ step: 'state', done, total: source.keyCount })
    part = []
    bytes = 0
  }
  await state.add(part)
  const mark = oldestVersion === latestVersion ? source.mark : undefined
  await state.finish({ chainId, block: oldestBlock, complete: base.complete, mark })
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

async function commitVersions(source: Layout3Store, target: StateWriter, pace: Pace): Promise<void> {
  const { chainId, latestVersion } = source.content.ledger
  const first = target.ledger!.latestVersion + 1n
  if (first > latestVersion) return
  const counts = await countWrites(source, first, latestVersion, pace)
  const total = counts.writes
  let done = 0
  await pace.report({ step: 'versions', done, total })
  let batch: VersionWrites[] = []
  let left = { entries: BATCH_ENTRIES, bytes: BATCH_BYTES }
  for await (const record of versions(source, first, latestVersion, sortWrites(source, counts, pace))) {
    batch.push(record)
    left.entries -= record.writes.length
    left.bytes -= record.writes.reduce((sum, [, value]) => sum + (value?.length ?? 0), 0)
    done += record.writes.length
    const isLast = record.version === latestVersion
    if (!isLast && left.entries > 0 && left.bytes > 0 && batch.length < BATCH_VERSIONS) continue
    await target.commit(batch, { chainId, mark: isLast ? source.mark : undefined })
    await pace.report({ step: 'versions', done, total })
    batch = []
    left = { entries: BATCH_ENTRIES, bytes: BATCH_BYTES }
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
