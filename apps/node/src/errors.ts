import { dirname, resolve } from 'node:path'
import {
  bytesToHexDigits,
  clip,
  declareErrors,
  didYouMean,
  isLedgerStateError,
  LedgerStateError,
} from '@ledger-state/core'
import { whyUnreadable } from '@ledger-state/core/files'
import type { LedgerSummary } from '@ledger-state/engine'
import { formatTimestamp } from '@ledger-state/ledger'
import { formatBytes } from './terminal/amounts.js'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** The signal that stopped the command. */
    stopped: { readonly signal: NodeJS.Signals }
    /** The code of the system's error, if there is one. */
    export_failed: { readonly systemCode?: string | undefined }
  }
}

/** Error codes of the program; packages have further codes. */
export type ProgramErrorCode =
  | 'audit_running'
  | 'chain_id_mismatch'
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

/**
 * End of a message about an unknown name, which refers to a help text.
 * @param hint result of `didYouMean` and the like
 */
export function seeHelp(hint: string, help: string): string {
  return hint.endsWith('?') ? `${hint} See ${help}` : `${hint}; see ${help}`
}

export const usage = declareErrors('usage', {
  missingOption: (command: string, option: { readonly name: string; readonly value?: string | undefined }) =>
    `${command}: --${option.name} ${option.value} is missing`,
  sourceBesideNode: (source: string) =>
    `--from-node replaces the backups of a network, but ${JSON.stringify(clip(source))} is not the name of a network`,
  unreadableNetwork: (text: string, names: readonly string[], cause: unknown) => {
    const why = whyUnreadable(cause)
    const expected = `not one of ${names.join(', ')} and not a file that describes a network`
    return [`${JSON.stringify(clip(text))} is ${expected}: ${why}${didYouMean(text, names)}`, {}, cause]
  },
  unreadableSlice: (file: string, cause: unknown) => {
    if (isLedgerStateError(cause)) return [`--only ${JSON.stringify(clip(file))}: ${cause.message}`, {}, cause]
    const expected = 'name a file with an address, "table" and a handle, or a type on each line (docs/slices.md)'
    return [`--only ${JSON.stringify(clip(file))} cannot be read: ${whyUnreadable(cause)}; ${expected}`, {}, cause]
  },
  fromAboveTo: (from: bigint, to: bigint) => `--from ${from} is above --to ${to}`,
  sinceAboveTo: (since: string, to: string) => `--since ${since} comes after --to ${to}`,
  otherBegin: (folder: string, begin: bigint) => `the export in ${folder} begins at version ${begin}: omit --from`,
  besideRange: (option: string) => `--range and ${option} contradict each other: ledger-state ingest --help`,
  /** Error for a source that gets no further versions. */
  followOfNoNode: (source: string) =>
    `--follow needs the URL of a node or of the feed of another Ledger State node, and ${JSON.stringify(clip(source))} is neither: ingest it without --follow, then follow a node with ledger-state serve --follow URL`,
  fromWithSince: () =>
    '--from and --since both set where to begin (--since also ingests the state there); give only one of them',
  timeWithoutSince: (words: string) => `--to ${words} is a time; a time needs --since`,
  replicaOfSlice: (url: string) =>
    `the node at ${url} itself keeps a slice: a replica without --only keeps the same slice`,
  /**
   * Error for a store with an interrupted slice of a snapshot.
   * @param folder folder with the snapshot
   */
  sliceOfSnapshotCutShort: (store: string, folder: string) =>
    `the ingest of a slice of a snapshot into ${store} was interrupted: run the same command with the same --only to resume it; for anything else, first remove ${folder} and the store`,
  /** Error for a start without a source, of a store whose first ingest, of another source, was interrupted. */
  firstIngestCutShort: (store: string) =>
    `the first ingest into ${store} was interrupted: start it with its --from again to resume, or name another folder with --data-dir`,
  /** Error for an option of `start` that asks for a source, for a store that would begin without one. */
  optionWithoutSource: (option: string) => {
    const ways: Readonly<Record<string, string>> = {
      follow:
        'add --from SOURCE, or --network NAME and --since, or begin with the first version of the node: ledger-state serve --follow',
      network: 'add --since to begin with a backup of the network, or --from SOURCE',
      since: 'add --network NAME or --from SOURCE',
    }
    const way = ways[option] ?? 'add --from SOURCE, or --network NAME and --since'
    return `start: --${option} needs a source to ingest: ${way}; a store that holds a ledger needs no source: name it with --data-dir`
  },
  /** Error for a configuration without the network that a running node was started with. */
  networkRemoved: () =>
    '--network was removed, but the node keeps a window of a network: restart the node to run it without one',
  /** Error for a start of a store with the ledger of another chain than the options name. */
  otherChain: (store: string, held: bigint, asked: number) =>
    `${store} holds chain ${held}, but --network or --chain-id names chain ${asked}: name another folder with --data-dir`,
  /** Error for a copy with an index into a store that already has versions without one. */
  indexOverVersions: (folder: string) =>
    `index cannot add an index of holdings to an existing store, and ${folder} holds versions without one: name an empty folder, or a folder that this command began to fill`,
  /** Error for a copy into a store of versions from elsewhere. */
  indexOverUnproven: (folder: string) =>
    `${folder} has data that index did not write, and would mark as proven: name an empty folder, or a folder that this command began to fill`,
  /**
   * Error for a copy with an index that is not complete, for another command that would write into it.
   * @param file the file that marks it
   */
  copyNotComplete: (store: string, file: string) =>
    `${store} is a copy that ledger-state index has not completed: run that command again to complete it; to use the store as it is, remove ${file}`,
  folderOfOthers: (folder: string) => `${folder} belongs to another user: set TMPDIR to use another temporary folder`,
  fromAfterTo: () => 'the time given as --from is after the time given as --to',
  noTreeFolder: (store: string) => `${store} has no folder for trees: name one with --tree-dir DIR`,
  /** Error for a folder that cannot be made. */
  cannotMakeFolder: (folder: string, cause: NodeJS.ErrnoException) => {
    const reasons: Readonly<Record<string, string>> = {
      EACCES: 'this process may not write there',
      EPERM: 'this process may not write there',
      EROFS: 'the disk is read-only',
      ENOENT: 'no folder can be created there',
      ENOTDIR: `${cause.path} is not a folder`,
      ENOSPC: 'the disk is full',
      EDQUOT: 'the disk quota is used up',
    }
    const why = reasons[cause.code ?? ''] ?? cause.message
    return [`the folder ${folder} cannot be created: ${why}`, {}, cause]
  },
})

/**
 * Error for another slice, with advice.
 * @param command command that makes a store of both slices
 */
export function widerSlice(error: LedgerStateError, command: string): LedgerStateError {
  const message = `${error.message}. To keep both slices, run: ${command}`
  return new LedgerStateError(error.code, message, error.fields, { cause: error })
}

export const stateRootUnknown = declareErrors('state_root_unknown', {
  /** Error for a proof of the whole state from a store that keeps a part of it. */
  assumedBaseHasNoRoot: () =>
    'this store began on an assumed empty base, but a state root is computed from the whole state; ledger-state info shows what the source proved during the ingest',
  sliceHasNoRoot: () =>
    'this store keeps only part of the ledger, but a state root is computed from the whole state; ledger-state info shows what the source proved during the ingest',
  /**
   * Error for a store without the root of a state. A store has the roots that its source had: backups, state snapshots,
   * nodes and geneses have them, feeds of others do not.
   */
  inRange: (store: string, first: bigint, last: bigint) =>
    `state root unknown: the ledger in ${store} has no state root from version ${first} to ${last}; ingest from a backup, a state snapshot, a genesis or a node to get one at the end of each block`,
})

/** Error for an audit whose folder another audit uses. */
export function auditRunning(folder: string, cause: unknown): LedgerStateError<'audit_running'> {
  const message = `another audit uses ${folder}: serve --audit of the same store, or check --all-roots. Wait until it ends, or name another folder with --work-dir`
  return new LedgerStateError('audit_running', message, {}, { cause })
}

export const diskTooSmall = declareErrors('disk_too_small', {
  /** Error for a disk without enough room for a command. */
  forIngest: (dataDir: string, neededBytes: number, freeBytes: number) =>
    `the disk of ${dataDir} has ${formatBytes(freeBytes)} free, but the ingest needs about ${formatBytes(neededBytes)}: nothing was fetched. To need less space there, use a later --since, --retain or another --data-dir; to begin anyway, use --no-check-disk`,
  /** Error for a disk without room for the files of a manifest. */
  forSegments: (dataDir: string, neededBytes: number, freeBytes: number) =>
    `the disk of ${dataDir} has ${formatBytes(freeBytes)} free, but fetching the rest needs ${formatBytes(neededBytes)}: nothing more was fetched; free disk space, and run the same command again`,
  /** Error for a disk without room for the snapshot from which a slice is taken. */
  noRoomForSnapshot: (folder: string, neededBytes: number, freeBytes: number) =>
    `the disk of ${folder} has ${formatBytes(freeBytes)} free, but fetching the rest of the snapshot needs ${formatBytes(neededBytes)} there temporarily: nothing more was fetched; free disk space, and run the same command again`,
})

/** Adds the content of the store to an error about a version or a time outside of it. */
export function outsideOfStore(error: unknown, ledger: LedgerSummary | undefined): unknown {
  if (!ledger || !isLedgerStateError(error, 'version_not_found', 'version_pruned')) return error
  const { oldestVersion, latestVersion, oldestBlock, latestBlock } = ledger
  const times = `${formatTimestamp(oldestBlock.timestampUsec)} to ${formatTimestamp(latestBlock.timestampUsec)}`
  const message = `${error.message}; the store holds versions ${oldestVersion} to ${latestVersion}, from ${times}`
  return new LedgerStateError(error.code, message, error.fields, { cause: error })
}

/** Parts of a command that advice about its errors needs. */
interface AdvisedCommand {
  readonly options: readonly { readonly name: string }[]
  readonly ifNoStore?: string
}

/** Adds advice to an error of a command: its option that the field `option` names, another command, or ways to go on. */
export function withAdvice(error: unknown, { options, ifNoStore = WAYS_TO_A_STORE }: AdvisedCommand): unknown {
  if (!isLedgerStateError(error)) return error
  const advised = (advice: string) =>
    new LedgerStateError(error.code, `${error.message}${advice}`, error.fields, { cause: error })
  if (isLedgerStateError(error, 'unsigned_contradicted'))
    return advised('; remove the unsigned versions with ledger-state trust reject-unsigned')
  // Another error has this code, too: that the file of an open store is gone.
  if (isLedgerStateError(error, 'store_missing')) return error.fields.fate ? error : advised(`: ${ifNoStore}`)
  if (!isLedgerStateError(error, 'base_missing', 'invalid_argument', 'untrusted')) return error
  const name = error.fields.option?.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return options.some((option) => option.name === name) ? advised(` with --${name}`) : error
}

const WAYS_TO_A_STORE = 'name another store, or ingest something into this one first'

/** Line for operators about a store with a ledger that differs from the ledger that validators signed. */
export function contradictedStore({ version, epoch }: { readonly version: bigint; readonly epoch: bigint }): string {
  return `the validators of epoch ${epoch} signed a ledger up to version ${version} that differs from this store: the node serves nothing after the newest signed version; remove the rest with ledger-state trust reject-unsigned (docs/trust.md)`
}

/** Error that ends a reader, so that the next one serves the store with the current knowledge. */
export function trustChanged(): ProgramError {
  return new LedgerStateError('unavailable', 'new validator signatures for this store: the reader restarts')
}

export const noLedgerErrors = declareErrors('no_ledger', {
  nothingIngested: (source: string) => `the ${source} has no versions: the store is still empty`,
  emptyStore: (dataDir: string) => `the store in ${dataDir} is empty: ingest something first`,
  notASlice: (store: string) => `the store in ${store} keeps no slice: it has the whole ledger, or nothing yet`,
  /** Error for a forecast from a store in which no value was superseded yet. */
  nothingToForecastFrom: () =>
    'cannot forecast: no version of this store has replaced a value yet; ingest some versions first',
})

export const untrusted = declareErrors('untrusted', {
  noWaypoint: (store: string) =>
    `${store} does not record the waypoint that verifies its epochs: give the waypoint that its network publishes with --waypoint`,
  saltUnknown: (store: string, why: LedgerStateError) => [
    `${why.message}; ${store} does not record the hash salt of its ledger: unless it is APTOS::, give --hash-salt`,
    {},
    why,
  ],
  noEndings: (store: string) =>
    `${store} keeps no epoch changes, so it cannot be verified; ingest from a backup with signatures (docs/trust.md)`,
})

export const noCheckpoint = declareErrors('no_checkpoint', {
  /**
   * Error for a store without a signed checkpoint.
   * @param store name of the store
   */
  inWindow: (store: string) =>
    `${store} keeps no signed checkpoint in its window: ingest from a backup, a state snapshot or a genesis that a waypoint verifies (docs/trust.md)`,
  prunedMeanwhile: (version: bigint) =>
    `the tree of version ${version} was not built, because the version was pruned first; a larger --retain leaves more time`,
  sliceWithoutTree: (store: string) => `${store} keeps only part of the ledger: a tree needs the whole state`,
  assumedBaseWithoutTree: (store: string) => `${store} began on an assumed empty base: a tree needs the whole state`,
})

/** Error for a node that was started with a source of another chain than its store. */
export function sourceOfOtherChain(message: string): ProgramError {
  const advice = 'name the folder of another store, or another source; without a source, the store is served as it is'
  return new LedgerStateError('chain_id_mismatch', `${message}: ${advice}`)
}

export const storeCorrupt = declareErrors('store_corrupt', {
  deadlyStore: (dataDir: string, end: string) => {
    const what = `two processes in a row ended with ${end} while reading it, which happens if a file was truncated`
    return `${dataDir} is damaged: ${what}; restore a snapshot or ingest again`
  },
  damagedStore: (dataDir: string, problems: number, checked: string) => {
    const what = problems === 1 ? '1 problem' : `${problems} problems`
    return `${dataDir} is damaged: ${what} in ${checked}; restore a snapshot or ingest again`
  },
})

/** Error of a check that came to no result. */
export function checkUnfinished(dataDir: string, why: string): ProgramError {
  const message = `the check of ${dataDir} did not finish: ${why}; the state of the store is unknown; run the check again`
  return new LedgerStateError('unfinished', message)
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

/** Why a node is not ready whose audit found a wrong state. */
export const auditFoundFault: string =
  'an audit found that the state differs from the ledger for some blocks: ledger-state check --all-roots lists them'

export function storeRootsDiffer(store: string, findings: number): ProgramError {
  const times = findings === 1 ? 'once' : `${findings} times`
  const message = `the state of ${store} differs from the ledger ${times}: see above; restore a snapshot or ingest again (a fork may need --hash-salt), then check --all-roots --again`
  return new LedgerStateError('state_root_differs', message)
}

/** Error for an address that cannot be listened on. `setting` is the setting that names the address. */
export function cannotListen(address: string, setting: string, cause: NodeJS.ErrnoException): ProgramError {
  const isInUse = cause.code === 'EADDRINUSE'
  const why = isInUse ? `the address is in use; choose another with --${setting} HOST:PORT` : cause.message
  return new LedgerStateError('cannot_listen', `cannot listen on ${address}: ${why}`, {}, { cause })
}

export const exportFailed = declareErrors('export_failed', {
  cannotExport: (file: string, cause: NodeJS.ErrnoException) => {
    const folder = dirname(resolve(file))
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: `there is no folder ${folder}`,
      ENOTDIR: `${folder} is not a folder`,
      EACCES: `this process may not write into ${folder}`,
      EROFS: `this process may not write into ${folder}`,
      ENOSPC: 'the disk is full',
      EPIPE: 'its reader closed it before the end',
      EDQUOT: 'the disk quota is used up',
      EFBIG: 'a limit on the size of files is reached',
    }
    const why = reasons[cause.code ?? ''] ?? cause.message
    return [`${file} cannot be written: ${why}`, { systemCode: cause.code }, cause]
  },
  /** Error for a view whose module was replaced while its history was read, as after a truncation of the ledger. */
  moreResults: (version: bigint) =>
    `the function has more results at version ${version} than in any version that the store had when the command began: run it again`,
  isFolder: (file: string) => `${file} cannot be written: it is a folder`,
  isOfStore: (file: string) => `${file} cannot be written: it is a file of a store`,
  otherExport: (folder: string) =>
    `${folder} has another export: of another chain, of other tables or of a slice; choose another folder`,
  otherRuns: (folder: string, cause: unknown) => [
    `another export writes into ${folder}: wait until it ends, or choose another folder`,
    {},
    cause,
  ],
  otherWrites: (file: string) =>
    `another export has begun to write ${file}, so this export ends: run one after the other`,
  /** Error for a folder with files of an export that lost its manifest: the same rows in other files would count twice. */
  noManifest: (folder: string, file: string) =>
    `${folder} has files of another export, such as ${file}, but no manifest.json; remove them or choose another folder`,
  baseIsCut: (folder: string) =>
    `the ledger was truncated below the state with which ${folder} begins; remove the folder and export again`,
  /** Error for a version that was pruned before it was exported. No later run can get it from the same store. */
  pruned: (folder: string, cause: LedgerStateError) => [
    `${cause.message}, but the export in ${folder} still needs it: remove the folder and begin with a later --from, or export a snapshot, which is not pruned (ledger-state snapshot)`,
    {},
    cause,
  ],
  threadEnded: () => 'a thread that writes files has ended',
})

export function copyNotEmpty(name: string): ProgramError {
  return new LedgerStateError(
    'store_not_empty',
    `${name} already holds a store: name another folder or database for the copy`,
  )
}

/** Error for a command that a signal cut short. The exit status is the status of a process ended by the signal. */
export function stoppedBy(signal: NodeJS.Signals, what: string): ProgramError {
  return new LedgerStateError('stopped', `stopped by ${signal}: ${what}`, { signal })
}
