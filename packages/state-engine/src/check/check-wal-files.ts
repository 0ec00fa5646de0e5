import { statSync } from 'node:fs'
import type { LedgerSummary } from '@ledger-state/engine'
import type { BlockEntry } from '@ledger-state/engine/authoring'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { KeyHash } from '../memtable/key-hash.js'
import type { CommitHead, Segment } from '../memtable/segment.js'
import type { LedgerRecord } from '../records/ledger-record.js'
import { listWalFiles, walFilePath } from '../wal/append-file.js'
import { FILE_HEADER_LENGTH } from '../wal/file-header.js'
import { firstFileOptions, WalReader, type WalReaderOptions } from '../wal/reader.js'
import type { CheckFindings } from './check-findings.js'

/** Commits in the WAL files that are not merged. */
export interface UnmergedCommits {
  readonly latestVersion: bigint
  /** Blocks that begin in these commits. */
  readonly blocks: readonly BlockEntry[]
  readonly commits: number
  readonly writes: number
  /** Number of bytes of the files that are not a complete record, or that follow an incomplete one. */
  readonly unreadableBytes: number
}

/** The files do not match the ledger record: the store is damaged, or the record is older than the files. */
export interface Mismatch {
  readonly mismatch: string
}

/** Reads the WAL files of a store, beginning with the first that is not merged. */
export function checkWalFiles(
  store: LmdbStore,
  record: LedgerRecord,
  findings: CheckFindings,
): UnmergedCommits | Mismatch {
  const { ledger, walFile, nextCommit } = record
  const hash = new KeyHash()
  const blocks: BlockEntry[] = []
  let { latestVersion, latestBlock } = ledger
  let options = firstFileOptions(store, record)
  let unreadableBytes = 0
  let writes = 0
  for (let isLast = false; !isLast; ) {
    const opened = openFile(options, hash, findings)
    if (!opened) return { mismatch: `write-ahead-${walFile}, or one that follows it, is missing` }
    const { file, size } = opened
    if (!file) {
      unreadableBytes += size
      break
    }
    try {
      const isSound = readWhole(file, findings)
      const unreached = file.isSealed || !isSound ? undefined : findUnreached(options.folder, options.fileNumber)
      if (unreached !== undefined) {
        // A writer seals a file before it appends to the next one.
        readWhole(file, findings)
        if (!file.isSealed) return { mismatch: `write-ahead-${unreached} has commits, but nothing leads to it` }
      }
      const { segment } = file
      const after: LedgerSummary = { ...ledger, latestVersion, latestBlock }
      if (segment.head) checkSegment(segment, segment.head, after, findings)
      for (let at = 0; at < segment.blocks.count; at++) {
        const entry = segment.blocks.at(at)
        if (entry.block.height <= latestBlock.height) {
          findings.add(
            `block ${entry.block.height} at version ${entry.firstVersion} follows block ${latestBlock.height}`,
          )
        }
        latestBlock = entry.block
        blocks.push(entry)
      }
      writes += segment.entryCount
      latestVersion = segment.head?.latestVersion ?? latestVersion
      options = file.next
      unreadableBytes += file.unreadableBytes
      isLast = !isSound || !file.isSealed
    } finally {
      file.close()
    }
  }
  return { latestVersion, blocks, commits: options.firstCommit - nextCommit, writes, unreadableBytes }
}

/**
 * Finds a file with commits after one that is not sealed: the writer has begun it meanwhile, or it is of another state.
 * Returns its number.
 */
function findUnreached(folder: string, lastNumber: number): number | undefined {
  return listWalFiles(folder).find((number) => {
    if (number <= lastNumber) return false
    const size = statSync(walFilePath(folder, number), { throwIfNoEntry: false })?.size ?? 0
    return size > FILE_HEADER_LENGTH
  })
}

/** Reads a whole file. Returns whether it is sound. */
function readWhole(file: WalReader, findings: CheckFindings): boolean {
  const read = findings.attempt(() => {
    file.read()
    return true
  })
  return read === true
}

interface OpenedFile {
  /** The opened file; undefined if its header is damaged. */
  readonly file: WalReader | undefined
  /** Size of the file in bytes. */
  readonly size: number
}

/** Opens a WAL file. Undefined if it does not exist. */
function openFile(options: WalReaderOptions, hash: KeyHash, findings: CheckFindings): OpenedFile | undefined {
  try {
    const { size } = statSync(walFilePath(options.folder, options.fileNumber))
    return { file: findings.attempt(() => new WalReader(options, hash)), size }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function checkSegment(segment: Segment, head: CommitHead, before: LedgerSummary, findings: CheckFindings): void {
  // If the file has no versions, its versions were cut off.
  const firstVersion = segment.versionCount > 0 ? segment.firstVersion : head.latestVersion + 1n
  if (firstVersion !== before.latestVersion + 1n) {
    findings.add(`a WAL file begins with version ${firstVersion}, after ${before.latestVersion}`)
  }
  if (head.chainId !== before.chainId) {
    findings.add(`a WAL file is of chain ${head.chainId}, the store of chain ${before.chainId}`)
  }
}
