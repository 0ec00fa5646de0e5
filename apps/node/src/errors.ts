import { dirname, resolve } from 'node:path'
import { bytesToHexDigits, clip, isLedgerStateError, LedgerStateError } from '@ledger-state/core'
import type { LedgerSummary } from '@ledger-state/engine'
import { formatTimestamp } from '@ledger-state/ledger'
import { formatBytes } from './terminal/amounts.js'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** The signal that stopped the command. */
    stopped: { readonly signal: NodeJS.Signals }
  }
}

/** Error codes of the program; packages have further codes. */
export type ProgramErrorCode =
  | 'usage'
  | 'no_ledger'
  | 'store_missing'
  | 'store_corrupt'
  | 'cannot_listen'
  | 'export_failed'
  | 'store_not_empty'
  | 'stopped'
  | 'unfinished'
  | 'state_root_unknown'
  | 'state_root_differs'
  | 'no_checkpoint'
  | 'unavailable'
  | 'untrusted'
  | 'disk_too_small'

type ProgramError = LedgerStateError<ProgramErrorCode>

/** Error for a command line, variable or file that is refused: one line on standard error, exit status 2. */
export function usageError(message: string): ProgramError {
  return new LedgerStateError('usage', message)
}

export function missingOption(
  command: string,
  option: { readonly name: string; readonly value?: string | undefined },
): ProgramError {
  return usageError(`${command}: --${option.name} ${option.value} is missing`)
}

export function sourceBesideNode(source: string): ProgramError {
  return usageError(
    `--from-node replaces the backups of a network, but ${JSON.stringify(clip(source))} is not the name of a network`,
  )
}

export function unreadableNetwork(text: string, names: readonly string[], cause: unknown): ProgramError {
  const why = cause instanceof Error ? cause.message : String(cause)
  const message = `${JSON.stringify(clip(text))} is not one of ${names.join(', ')} and not a file that describes a network: ${why}`
  return new LedgerStateError('usage', message, {}, { cause })
}

export function unreadableSlice(file: string, cause: unknown): ProgramError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new LedgerStateError('usage', `--only ${JSON.stringify(clip(file))}: ${why}`, {}, { cause })
}

/**
 * Error for another slice, with advice.
 * @param command command that makes a store of both slices
 */
export function widerSlice(error: LedgerStateError, command: string): LedgerStateError {
  const message = `${error.message}. To keep both slices, run: ${command}`
  return new LedgerStateError(error.code, message, error.fields, { cause: error })
}

/** Error for a proof of the whole state from a store that keeps a part of it. */
export function assumedBaseHasNoRoot(): ProgramError {
  const message =
    'this store began on an assumed empty base, but a state root is computed from the whole state; ledger-state info shows what the source proved during the ingest'
  return new LedgerStateError('state_root_unknown', message)
}

export function sliceHasNoRoot(): ProgramError {
  const message =
    'this store keeps only part of the ledger, but a state root is computed from the whole state; ledger-state info shows what the source proved during the ingest'
  return new LedgerStateError('state_root_unknown', message)
}

export function fromAboveTo(from: bigint, to: bigint): ProgramError {
  return usageError(`--from ${from} is above --to ${to}`)
}

export function fromWithSince(): ProgramError {
  return usageError(
    '--from and --since both set where to begin (--since also ingests the state there); give only one of them',
  )
}

export function timeWithoutSince(words: string): ProgramError {
  return usageError(`--to ${words} is a time; a time needs --since`)
}

/** Error for a disk without enough room for a command. */
export function diskTooSmall(dataDir: string, neededBytes: number, freeBytes: number): ProgramError {
  const message = `the disk of ${dataDir} has ${formatBytes(freeBytes)} free, but the ingest needs about ${formatBytes(neededBytes)}: nothing was fetched. Use a later --since, --retain or another --data-dir to need less there, or --no-check-disk to begin anyway`
  return new LedgerStateError('disk_too_small', message)
}

/** Error for a disk without room for the snapshot from which a slice is taken. */
export function noRoomForSnapshot(folder: string, neededBytes: number, freeBytes: number): ProgramError {
  const message = `the disk of ${folder} has ${formatBytes(freeBytes)} free, but fetching the snapshot needs ${formatBytes(neededBytes)} there temporarily; nothing was fetched`
  return new LedgerStateError('disk_too_small', message)
}

export function replicaOfSlice(url: string): ProgramError {
  return usageError(`the node at ${url} itself keeps a slice: a replica without --only keeps the same slice`)
}

/**
 * Error for a store with an interrupted slice of a snapshot.
 * @param folder folder with the snapshot
 */
export function sliceOfSnapshotCutShort(store: string, folder: string): ProgramError {
  return usageError(
    `the ingest of a slice of a snapshot into ${store} was interrupted: run the same command with the same --only to resume it; for anything else, first remove ${folder} and the store`,
  )
}

export function folderOfOthers(folder: string): ProgramError {
  return usageError(`${folder} belongs to another user: set TMPDIR to use another temporary folder`)
}

export function fromAfterTo(): ProgramError {
  return usageError('the time given as --from is after the time given as --to')
}

/** Adds the content of the store to an error about a version or a time outside of it. */
export function outsideOfStore(
  error: LedgerStateError,
  { oldestVersion, latestVersion, oldestBlock, latestBlock }: LedgerSummary,
) {
  const times = `${formatTimestamp(oldestBlock.timestampUsec)} to ${formatTimestamp(latestBlock.timestampUsec)}`
  const message = `${error.message}; the store holds versions ${oldestVersion} to ${latestVersion}, from ${times}`
  return new LedgerStateError(error.code, message, error.fields, { cause: error })
}

/** Adds advice to an error of an ingest: the switch that its field `option` names, or a command. */
export function withAdvice(error: unknown): unknown {
  if (isLedgerStateError(error, 'unsigned_contradicted')) {
    const message = `${error.message}; remove the unsigned versions with ledger-state trust reject-unsigned`
    return new LedgerStateError(error.code, message, error.fields, { cause: error })
  }
  if (!isLedgerStateError(error, 'base_missing', 'invalid_argument', 'untrusted')) return error
  if (error.fields.option === undefined) return error
  const name = error.fields.option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return new LedgerStateError(error.code, `${error.message} with --${name}`, error.fields, { cause: error })
}

/** Line for operators about a store with a ledger that differs from the ledger that validators signed. */
export function contradictedStore({ version, epoch }: { readonly version: bigint; readonly epoch: bigint }): string {
  return `the validators of epoch ${epoch} signed a ledger up to version ${version} that differs from this store: the node serves nothing after the newest signed version; remove the rest with ledger-state trust reject-unsigned (docs/trust.md)`
}

/** Error that ends a reader, so that the next one serves the store with the current knowledge. */
export function trustChanged(): ProgramError {
  return new LedgerStateError('unavailable', 'new validator signatures for this store: the reader restarts')
}

export function nothingIngested(source: string): ProgramError {
  return new LedgerStateError('no_ledger', `the ${source} does not hold a version: the store is still empty`)
}

export function noWaypoint(store: string): ProgramError {
  const message = `${store} does not record the waypoint that verifies its epochs: give the waypoint that its network publishes with --waypoint`
  return new LedgerStateError('untrusted', message, {})
}

export function noEndings(store: string): ProgramError {
  const message = `${store} keeps no epoch changes, so it cannot be verified; ingest from a backup with signatures (docs/trust.md)`
  return new LedgerStateError('untrusted', message, {})
}

/**
 * Error for a store without a signed checkpoint.
 * @param store name of the store
 */
export function noCheckpoint(store: string): ProgramError {
  const message = `${store} keeps no signed checkpoint in its window: ingest from a backup, a state snapshot or a genesis that a waypoint verifies (docs/trust.md)`
  return new LedgerStateError('no_checkpoint', message)
}

export function prunedMeanwhile(version: bigint): ProgramError {
  const message = `the tree of version ${version} was not built, because the version was pruned first; a larger --retain leaves more time`
  return new LedgerStateError('no_checkpoint', message)
}

export function sliceWithoutTree(store: string): ProgramError {
  const message = `${store} keeps only part of the ledger: a tree needs the whole state`
  return new LedgerStateError('no_checkpoint', message)
}

export function assumedBaseWithoutTree(store: string): ProgramError {
  const message = `${store} began on an assumed empty base: a tree needs the whole state`
  return new LedgerStateError('no_checkpoint', message)
}

export function noTreeFolder(store: string): ProgramError {
  return usageError(`${store} has no folder for trees: name one with --tree-dir DIR`)
}

export function emptyStore(dataDir: string): ProgramError {
  return new LedgerStateError('no_ledger', `the store in ${dataDir} is empty: ingest something first`)
}

/** Error for a forecast from a store in which no value was superseded yet. */
export function nothingToForecastFrom(): ProgramError {
  const message = 'cannot forecast: no version of this store has replaced a value yet; ingest some versions first'
  return new LedgerStateError('no_ledger', message)
}

export function nothingToServe(dataDir: string): ProgramError {
  const ways = 'ingest something into it first, follow a node with --follow URL, or give --create to begin empty'
  return new LedgerStateError('store_missing', `there is no ledger store in ${dataDir}: ${ways}`)
}

export function deadlyStore(dataDir: string, end: string): ProgramError {
  const what = `two processes in a row ended with ${end} while reading it, which happens if a page points outside the file`
  return new LedgerStateError('store_corrupt', `${dataDir} is damaged: ${what}; restore a snapshot or ingest again`)
}

/** Error of a check that came to no result. */
export function checkUnfinished(dataDir: string, why: string): ProgramError {
  const message = `the check of ${dataDir} did not finish: ${why}; the state of the store is unknown; run the check again`
  return new LedgerStateError('unfinished', message)
}

export function damagedStore(dataDir: string, problems: number, checked: string): ProgramError {
  const what = problems === 1 ? '1 problem' : `${problems} problems`
  const message = `${dataDir} is damaged: ${what} in ${checked}; restore a snapshot or ingest again`
  return new LedgerStateError('store_corrupt', message)
}

/**
 * Error for a store without the root of a state. A store has the roots that its source had: backups, state snapshots,
 * nodes and geneses have them, feeds of others do not.
 */
export function stateRootUnknown(store: string, first: bigint, last: bigint): ProgramError {
  const message = `state root unknown: the ledger in ${store} has no state root from version ${first} to ${last}; ingest from a backup, a state snapshot, a genesis or a node to get one at the end of each block`
  return new LedgerStateError('state_root_unknown', message)
}

export function storeStateRootDiffers(
  store: string,
  version: bigint,
  held: Uint8Array,
  computed: Uint8Array,
): ProgramError {
  const message = `state root of version ${version}: ${store} has ${bytesToHexDigits(computed)}, but the ledger says ${bytesToHexDigits(held)}; the state differs from the chain: restore a snapshot or ingest again (a fork may need --hash-salt)`
  return new LedgerStateError('state_root_differs', message)
}

/** Error for an address that cannot be listened on. `setting` is the setting that names the address. */
export function cannotListen(address: string, setting: string, cause: NodeJS.ErrnoException): ProgramError {
  const isInUse = cause.code === 'EADDRINUSE'
  const why = isInUse ? `the address is in use; choose another with --${setting} HOST:PORT` : cause.message
  return new LedgerStateError('cannot_listen', `cannot listen on ${address}: ${why}`, {}, { cause })
}

/** Error for a folder that cannot be made. */
export function cannotMakeFolder(folder: string, cause: NodeJS.ErrnoException): ProgramError {
  const reasons: Readonly<Record<string, string>> = {
    EACCES: 'this process may not write there',
    EPERM: 'this process may not write there',
    EROFS: 'the disk is read-only',
    ENOENT: 'its file system takes no folders',
    ENOTDIR: `${cause.path} is not a folder`,
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is used up',
  }
  const why = reasons[cause.code ?? ''] ?? cause.message
  return new LedgerStateError('usage', `the folder ${folder} cannot be made: ${why}`, {}, { cause })
}

export function cannotExport(file: string, cause: NodeJS.ErrnoException): ProgramError {
  const folder = dirname(resolve(file))
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: `there is no folder ${folder}`,
    ENOTDIR: `${folder} is not a folder`,
    EACCES: `this process may not write into ${folder}`,
    EROFS: `this process may not write into ${folder}`,
    ENOSPC: 'the disk is full',
    EPIPE: 'its reader left before the end',
    EDQUOT: 'the disk quota is used up',
    EFBIG: 'a limit on the size of files is reached',
  }
  const why = reasons[cause.code ?? ''] ?? cause.message
  return new LedgerStateError('export_failed', `${file} cannot be written: ${why}`, {}, { cause })
}

export function isFolder(file: string): ProgramError {
  return new LedgerStateError('export_failed', `${file} cannot be written: it is a folder`)
}

export function copyNotEmpty(name: string): ProgramError {
  return new LedgerStateError('store_not_empty', `${name} already holds a store`)
}

/** Error for a command that a signal cut short. The exit status is the status of a process ended by the signal. */
export function stoppedBy(signal: NodeJS.Signals, what: string): ProgramError {
  return new LedgerStateError('stopped', `stopped by ${signal}: ${what}`, { signal })
}
