import {
  bytesToHexDigits,
  clip,
  declareErrors,
  didYouMean,
  isLedgerStateError,
  LedgerStateError,
  quote,
} from '@ledger-state/core'
import { whyUnreadable } from '@ledger-state/core/files'

declare module '@ledger-state/core' {
  interface ErrorFieldsByCode {
    /** `line` of the feed, counted from 1. */
    invalid_feed: { readonly line?: number; readonly offset?: number }
    /** `offset` of the byte. */
    invalid_genesis: { readonly offset?: number; readonly path?: string }
    /** `offset` of the byte in the record. */
    invalid_backup: { readonly offset?: number }
    /** Versions, as `@ledger-state/engine` declares them for its own gaps. */
    version_gap: { readonly expected: bigint; readonly found?: bigint; readonly answers?: number }
    /** `version` that differs; `answers` of a source in a row showed it. */
    ledger_fork: { readonly version?: bigint; readonly answers?: number }
    /**
     * `answers`: number of consecutive failed answers of the source; `status` 410 if the node has pruned the requested
     * data.
     */
    source_failed: { readonly answers?: number; readonly status?: number; readonly offset?: number }
    /** Validators of `epoch` signed a ledger up to `version` that differs from the ledger of the store. */
    unsigned_contradicted: { readonly version: bigint; readonly epoch: bigint }
  }
}

/** Codes of errors from reading a source. */
export type FeedErrorCode =
  | 'invalid_argument'
  | 'invalid_feed'
  | 'invalid_genesis'
  | 'invalid_backup'
  | 'verification_failed'
  | 'untrusted'
  | 'unsigned_contradicted'
  | 'ledger_fork'
  | 'chain_id_mismatch'
  | 'version_gap'
  | 'source_failed'
  | 'spill_failed'
  | 'state_tree_damaged'

type FeedError = LedgerStateError<FeedErrorCode>

/** Ending of a message about a path that is not there: the URL that was probably meant. */
function meantUrl(path: string): string {
  if (/^[a-z][a-z0-9+.-]*:\//i.test(path))
    return '; a URL begins with https://, http://, s3://, gs://, backup+http:// or backup+https://'
  const [, name, port] = /^([a-z0-9-]+(?:\.[a-z0-9-]+)*)(:\d+)?\/v1\/?$/i.exec(path) ?? []
  if (name === undefined) return ''
  return `; did you mean http${port === undefined ? 's' : ''}://${path}?`
}

export const invalidArgument = declareErrors('invalid_argument', {
  cannotOpen: (path: string, cause: unknown) => [`${path} cannot be read: ${whyUnreadable(cause)}`, {}, cause],
  /** @param networks names that the location may be meant for */
  unreadableSource: (path: string, networks: readonly string[], cause: unknown) => [
    `the source ${path} cannot be read: ${whyUnreadable(cause)}${meantUrl(path) || didYouMean(path, networks)}`,
    {},
    cause,
  ],
  emptyFile: (path: string) => `${path} is empty: expected a genesis blob or a ledger feed`,
  notARegularFile: (path: string) => `${path} is a folder, pipe, socket or device, not a file`,
  unreadablePipe: (path: string) => `${path} is a socket or device; a feed can only be read from a file or a pipe`,
  unknownFolder: (path: string, manifests: readonly string[]) =>
    `${path} is not a backup: it has no metadata (*.meta) and no ${manifests.join(' and no ')}`,
  unknownFile: (path: string) =>
    `${path} is neither a genesis blob nor a ledger feed (NDJSON: uncompressed, gzip or zstd)`,
  waypointWithoutSignatures: (location: string) =>
    `a waypoint cannot verify ${location}: feeds and nodes carry no signatures of validators`,
  zstdUnsupported: (path: string) =>
    `${path} is compressed with zstd, which Node.js ${process.version} cannot read; use 22.15 or newer`,
  networkWithoutBackups: (name: string) =>
    `the network ${name} has no backups; a --network file can name them in "backups"`,
  invalidNetwork: (why: string) => `not a description of a network: ${why}`,
  urlWithCredentials: (host: string) =>
    `the URL of the node at ${host} contains a user name or password, but requests cannot send them`,
  urlWithQuery: (host: string) =>
    `the URL of the node at ${host} has a query or a fragment; remove it, because requests append a path to the URL`,
  noSuchBucket: (address: string) =>
    `there is no bucket at ${address}; its name may have changed: look for the current one in the network's documentation`,
  folderWithoutParent: (place: string) =>
    `${place} is one folder of a backup; its manifest names files relative to the folder above, and the bucket has no such folder`,
  windowOfBackupOnly: (location: string) =>
    `${location} is not a whole backup with metadata; a window can only be chosen from a whole backup`,
  versionBeyondBackup: (root: string, version: bigint, newest: bigint) =>
    `the backup in ${root} ends at version ${newest}, before ${version}`,
  withoutTimes: (root: string) =>
    `the backup in ${root} has no epoch changes, so the times of its versions are unknown: give a version instead of a time`,
  timeInFuture: (timeUsec: bigint, nowUsec: bigint) =>
    `${formatTime(timeUsec)} is in the future: the clock of this machine says ${formatTime(nowUsec)}`,
  timeBesideBackup: (root: string, timeUsec: bigint, endUsec: bigint, nowUsec: bigint) =>
    `the newest epoch in ${root} ended at ${formatTime(endUsec)}, which does not fit the requested time ${formatTime(timeUsec)} or the clock of this machine (${formatTime(nowUsec)}): the clock is wrong, or the backup is no longer updated`,
  markTooLate: (ofMark: bigint, version: bigint) =>
    `the mark belongs to version ${ofMark}, so it cannot prove what is read from version ${version} on`,
  unreadableCredentials: (path: string, why: string) =>
    `the credentials in ${path} (GOOGLE_APPLICATION_CREDENTIALS) cannot be used: ${why}`,
})

/** Errors about one backup, which another one of the ledger need not have, nor the same one later. */
export const BACKUP_FAULTS = ['invalid_backup', 'source_failed', 'untrusted', 'verification_failed'] as const

export const verificationFailed = declareErrors('verification_failed', {
  otherWaypoint: (path: string, found: string | undefined, expected: string) =>
    `${path} has the waypoint ${found ?? '(not computed)'}, not ${expected}`,
  genesisOfOtherNetwork: (path: string, chainId: number, network: string, expected: number) =>
    `${path} says that it is the genesis of chain ${chainId}, but ${network} is chain ${expected}: name the network of the file, or none`,
  otherGenesis: (path: string, chainId: number, found: string, network: string, known: string) =>
    `${path} says that it is the genesis of chain ${chainId} (${network}), but its waypoint is ${found}, not ${known}: the file is damaged, or it belongs to another network and you must give the waypoint of that network`,
  manifestStateRootDiffers: (place: string, named: Uint8Array, proven: Uint8Array) =>
    `${place} names the state root ${bytesToHexDigits(named)}, but its proof is for ${bytesToHexDigits(proven)}`,
  otherEpoch: (place: string, named: bigint, proven: bigint) =>
    `${place} says that epoch ${named} ends with the state, but the ledger info in its proof ends epoch ${proven}`,
  otherListedWaypoint: (manifest: string, epoch: bigint, listed: string, found: string) => [
    `epoch ${epoch} ends with the waypoint ${found}, but ${manifest} lists ${clip(listed)}`,
    { epoch },
  ],
  /**
   * A state that names another epoch than its proof.
   * @param configured the epoch that the state names: the epoch of its version, or the next epoch if an epoch ends
   * there
   */
  otherEpochInState: (place: string, named: bigint, configured: bigint) =>
    `${place} says that epoch ${named} ends with the state, but the state is in epoch ${configured}`,
  otherStateBegun: (place: string, version: bigint, root: Uint8Array, begun: Uint8Array) =>
    `${place} has the state root ${bytesToHexDigits(root)} at version ${version}, but the interrupted import began with ${bytesToHexDigits(begun)}: resume it from the backup with which it began, or remove the store`,
  otherSourceBegun: (place: string) =>
    `${place} does not continue the interrupted import: resume it from the source with which it began, or remove the store`,
  begunWithoutProofs: (place: string) =>
    `the interrupted import has entries that were not proven: resume it with --no-verify, or remove the store to verify ${place}`,
  duplicateStateKey: (keyHash: Uint8Array) => `two entries of the state have the key hash ${bytesToHexDigits(keyHash)}`,
})

export const sourceFailed = declareErrors('source_failed', {
  cannotRead: (path: string, cause: unknown) => [`${path} cannot be read now: ${messageOf(cause)}`, {}, cause],
  proverEnded: () => 'a thread that verifies or hashes has ended',
  unreachable: (url: string, why: string) =>
    `${new URL(url).host} cannot be reached: ${why}; is this machine connected to the network?`,
  requestsFailed: (url: string, attempts: number, why: string, method = 'GET') =>
    `${method} ${url} failed ${attempts} times; the last time: ${why}`,
  /**
   * An address that did not answer as a node.
   * @param isPage whether it answered a page in HTML
   */
  notANode: (url: string, status: number, isPage: boolean, found: string) => {
    const advice = url.endsWith('/v1') ? '' : '; the URL of a node ends in /v1'
    return isPage
      ? `${url} is not the API of a node or a bucket: it answered status ${status} and an HTML page, as a proxy with a login page would${advice}`
      : `${url} is not the API of a node: expected {"chain_id","ledger_version",…}, found status ${status}, ${found}${advice}`
  },
  keepsNoTransactions: (url: string) =>
    `${url} is a Ledger State node that keeps no transactions: follow its feed instead, with --replica-of and the address of its --serve-feed`,
  notBcs: (url: string, type: string, expected: string) =>
    `${url} answered ${type}: the node does not serve ${expected}`,
  answerTooLong: (url: string, most: number) => `${url} answered more than ${most} bytes`,
  surplusItems: (url: string, start: bigint, count: number, most: number) =>
    `${url} answered ${count} transactions that begin with version ${start}; at most ${most} were requested`,
  unexpectedStatus: (url: string, status: number, text: string) => `${url} answered ${status}: ${text}`,
  prunedByNode: (url: string, version: bigint, text: string) => [
    `${url}: the node has pruned version ${version}; use a backup or an archive node: ${text}`,
    { status: 410 },
  ],
  feedEnded: (url: string) => `the feed at ${url} ended`,
  withdrawnVersions: (url: string, last: bigint, version: bigint) =>
    `${url} announced versions up to ${last}, but now does not have version ${version}`,
  openingStopped: (url: string) => `${url} was not opened: the command was stopped first`,
  otherVersion: (found: bigint) => `found version ${found} instead`,
  accessDenied: (what: string, status: number, why: string) =>
    `${what} without credentials that have access (status ${status}, ${why}); alternatively, ingest a copy of the backup from a folder`,
  notAListing: (url: string, found: string) =>
    `expected a bucket listing (XML) from ${url}, found ${found}; it is not a bucket, or a proxy answers instead`,
  tooManyObjects: (folder: string, most: number) => `${folder} has more than ${most} objects`,
  endlessListing: (url: string) => `${url} answered a page of the listing without a next page`,
  notWritten: (place: string, status: number, text: string) =>
    `${place} was not written: status ${status}, ${text}${status === 401 || status === 403 ? '; the credentials in the environment have no write permission there' : ''}`,
  objectChanged: (place: string, why: string) =>
    `${place} has changed (${why}), but objects of a backup never change: run the same command again`,
  transferStopped: (url: string, method = 'GET') => `${method} ${url} was stopped`,
  credentialsRefused: (origin: string, why: string) =>
    `${origin} did not give an access token for the credentials: ${why}`,
  serviceEmpty: (root: string) => `the node at ${root} has no ledger yet`,
  serviceImplausible: (root: string, what: string, found: bigint, most: bigint) =>
    `the node at ${root} claims ${found} ${what}; the limit is ${most}`,
  serviceRecordTooLong: (url: string, bytes: number, most: number) =>
    `${url} answered a record of ${bytes} bytes; the limit is ${most}`,
  serviceTooLong: (url: string, most: number) =>
    `${url} answered more than ${most} bytes, or more records than requested`,
  serviceShort: (url: string, why: string) =>
    `${url} answered less than requested (${why}): the node may have pruned it`,
  servicePruned: (root: string, version: bigint, oldest: bigint) =>
    `the node at ${root} has now pruned version ${version}: its transactions begin with version ${oldest}; begin a new store with a later window, or read from a node that keeps more`,
  statePruned: (root: string, version: bigint) =>
    `the node at ${root} has now pruned its state at version ${version}; start again with a later window, or read from a node that keeps more`,
  serviceFormatUnknown: (root: string, version: bigint) =>
    `the transaction at version ${version} from ${root} has an unknown format: the chain may use another hash salt`,
})

export const spillFailed = declareErrors('spill_failed', {
  cannotSpill: (folder: string, cause: unknown) => [
    `cannot write the hashes of the state to ${folder}: ${messageOf(cause)}; they need 64 bytes per key`,
    {},
    cause,
  ],
  tooManyKeys: (keys: number, most: number) => `cannot store a tree of ${keys} keys; the limit is ${most}`,
  cannotSpool: (path: string, cause: unknown) => [
    `cannot write a copy to ${path}: ${messageOf(cause)}; set TMPDIR to use another folder`,
    {},
    cause,
  ],
  cannotKeep: (path: string, cause: unknown) => [`cannot write ${path}: ${messageOf(cause)}`, {}, cause],
  cannotRead: (path: string, cause: unknown) => [`${path} cannot be read now: ${messageOf(cause)}`, {}, cause],
})

/** Faults of the system that say nothing about a path. */
const PASSING_FAULTS: ReadonlySet<string | undefined> = new Set(['EAGAIN', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM'])

/** A path that cannot be opened: `invalid_argument`, or `source_failed` if the same path may be opened later. */
export function cannotOpen(path: string, cause: unknown): FeedError {
  const isPassing = PASSING_FAULTS.has((cause as NodeJS.ErrnoException).code)
  return isPassing ? sourceFailed.cannotRead(path, cause) : invalidArgument.cannotOpen(path, cause)
}

export const invalidBackup = declareErrors('invalid_backup', {
  wrongMember: (place: string, name: string, found: unknown, expected: string) =>
    `${place} has ${clip(JSON.stringify(found) ?? 'undefined')} for "${name}"; expected ${expected}`,
  unexpectedEntries: (place: string, path: string, [first, last]: readonly [bigint, bigint], expectedFrom: bigint) =>
    `${place}: ${path} holds entries ${first} to ${last}; expected entries starting at ${expectedFrom}`,
  fileTooLarge: (path: string, most: number) => `${path} holds more than ${most} bytes`,
  recordTooLong: (path: string, record: number, length: number, most: number) =>
    `${path}, record ${record}: expected a length of at most ${most} bytes, found ${length}`,
  recordCutShort: (path: string, record: number) => `${path} is cut short within record ${record}`,
  notAName: (place: string, name: string, text: string) =>
    `${place} has ${quote(text)} for "${name}"; expected the name of a file, without control characters`,
  outsideBackup: (place: string, handle: string) => `${place} names ${quote(handle)}, which is outside the backup`,
  missingFile: (path: string) => `the backup is missing ${path} (also looked for ${path}.gz and ${path}.zst)`,
  tooManyLines: (path: string, most: number) => `${path} brings the metadata to more than ${most} lines`,
  notJson: (place: string, cause: unknown) => [`${place} is not JSON text: ${messageOf(cause)}`, {}, cause],
  notAnObject: (place: string) => `${place} is not a JSON object`,
  missingVersions: (place: string, from: bigint, to: bigint) => `${place} is missing versions ${from} to ${to - 1n}`,
  missingEndings: (place: string, from: bigint, { lastEpoch }: { readonly lastEpoch: bigint }) =>
    `${place} is missing the changes of epochs ${from} to ${lastEpoch}, which its metadata list`,
  tooManyEndings: (place: string, most: number) => `${place} has the ends of more than ${most} epochs`,
  endingsOutOfOrder: (path: string, before: bigint) =>
    `${path} has an end of an epoch that is not after version ${before}, the end of the previous epoch`,
  chunksOutOfOrder: (place: string, first: bigint, before: bigint) =>
    `${place} begins at version ${first}, before the previous chunk, which begins at ${before}`,
  unknownChunkFormat: (place: string, format: string) => `${place} has the unknown format ${quote(format)}`,
  notAChunk: (path: string, firstVersion: bigint, lastVersion: bigint) =>
    `${path}: versions ${firstVersion} to ${lastVersion} cannot be one chunk`,
  missingRecords: (path: string, found: number | bigint, expected: number | bigint) =>
    `${path} ends after ${found} of ${expected} records`,
  surplusRecords: (path: string, expected: number) =>
    `${path} holds more than the ${expected} records that its manifest lists`,
  noStateChunks: (place: string) => `${place} does not list a chunk`,
  /**
   * Wrong number of siblings in a proof.
   * @param siblingsOf the version or the entry that the proof is about
   */
  wrongSiblings: (proofPath: string, siblings: string, siblingsOf: string) =>
    `${proofPath}: its ${siblings} do not belong to ${siblingsOf}`,
  proofEndsEarly: (proofPath: string, end: bigint, lastVersion: bigint) =>
    `${proofPath}: its ledger ends at version ${end}, before version ${lastVersion}`,
  backupWithoutStateRoot: (proofPath: string, version: bigint) => `${proofPath}: version ${version} has no state root`,
  missingObject: (place: string) => `the backup is missing ${place}, which a listing or a manifest names`,
  unorderedKeys: () => 'its key hash is not above the key hash of the previous record',
  stateWithoutBlock: (version: bigint) =>
    `the state at version ${version} is missing 0x1::chain_id::ChainId, 0x1::block::BlockResource or 0x1::timestamp::CurrentTimeMicroseconds`,
  notReadToEnd: (place: string, cause: unknown) => [
    `${place} cannot be read to the end: ${messageOf(cause)}`,
    {},
    cause,
  ],
  withoutTransactions: (root: string, state: { version: bigint; folder: string } | undefined) => {
    const hint = state ? `; its state at version ${state.version} is in ${root}/${state.folder}` : ''
    return `the backup in ${root} lists no transactions${hint}`
  },
})

// Ledger feeds

/** Fault in a line. The reader of the file adds the place. */
export function invalidFeed(why: string): FeedError {
  return new LedgerStateError('invalid_feed', why)
}

export function notA(expected: string, what: string): FeedError {
  return invalidFeed(`${what} is not ${expected}`)
}

export function invalidFeedLine(path: string, line: number, why: string, cause?: unknown): FeedError {
  return new LedgerStateError('invalid_feed', `${path}, line ${line}: ${why}`, { line }, { cause })
}

export function otherFeedBegun(path: string): FeedError {
  return invalidFeed(
    `${path} does not continue the interrupted import: resume it from the source with which it began, or remove the store`,
  )
}

export function feedUnreadable(path: string, line: number, cause: unknown): FeedError {
  return invalidFeedLine(path, line, `the rest of the file cannot be read: ${messageOf(cause)}`, cause)
}

// Genesis

export function notAGenesis(error: LedgerStateError<'invalid_bcs'>): FeedError {
  return new LedgerStateError('invalid_genesis', `not a genesis blob: ${error.message}`, error.fields)
}

export function genesisWithoutChainId(): FeedError {
  return new LedgerStateError('invalid_genesis', 'the genesis does not write 0x1::chain_id::ChainId')
}

// Files of backups

/** Turns the error of a stream into an error that names the file. */
export function cannotReadToEnd(place: string, cause: unknown): LedgerStateError {
  if (isLedgerStateError(cause)) return cause
  return invalidBackup.notReadToEnd(place, cause)
}

// Proofs

/** @param undecoded why the transaction was not decoded, if it was not */
export function transactionNotFound(offset: number, salt: string, undecoded: string | undefined): FeedError {
  const why = undecoded === undefined ? '' : ` (it was not decoded: ${undecoded})`
  const message = `no TransactionInfo has the hash of the transaction at byte ${offset}${why}: the file is damaged, or its ledger uses a hash salt other than ${salt}`
  return new LedgerStateError('verification_failed', message, { offset })
}

export function undecodedNotice(place: string, why: string): string {
  return `${place} has transactions that this program cannot decode: ${why}; the program finds where they end by their hashes`
}

export function otherLedgerBefore(path: string, version: number): FeedError {
  const message = `${path}: the ledger before version ${version} differs from the ledger of the store or from the part read earlier`
  return new LedgerStateError('ledger_fork', message)
}

/**
 * A damaged tree of a state.
 * @param cause an error, or a text that says what is wrong
 */
export function badStateTree(path: string, cause: unknown): FeedError {
  const why = cause instanceof Error ? messageOf(cause) : String(cause)
  return new LedgerStateError('state_tree_damaged', `${path} cannot be used: ${why}; build it again`, {}, { cause })
}

// Signatures

/** Notice that another mirror of a backup is used. */
export function backupNotOpened(location: string, why: string): string {
  return `${location} cannot be used: ${why}; using the next backup of the network`
}

/** Notice that the source has no trusted waypoint, so that nothing verifies it. */
export function notVerifiedNotice(root: string, waypoint: string | undefined): string {
  const compare = waypoint
    ? `; compare its first waypoint ${waypoint} with the waypoint that its network publishes`
    : ''
  return `the signatures of the ledger in ${root} are not verified: it has no trusted waypoint${compare}`
}

/**
 * Error for a store with a ledger that differs from the ledger that validators signed. @param path place in the source,
 * or the store
 */
export function signedLedgerDiffers(path: string, epoch: bigint, version: bigint): FeedError {
  const message = `${path}: the validators of epoch ${epoch} signed a ledger up to version ${version} that differs from the unsigned versions of this store`
  return new LedgerStateError('unsigned_contradicted', message, { version, epoch })
}

export function noTrustedEnding(root: string, waypoints: readonly string[]): FeedError {
  const message = `the backup in ${root} cannot be verified: it has no epoch change at a trusted waypoint that is early enough (${waypoints.join(', ')}); copy its epoch_ending_* folders too, trust an earlier waypoint, or ingest it without verifying signatures`
  return new LedgerStateError('untrusted', message, { option: 'unsigned' })
}

/**
 * Epoch changes that a backup lacks.
 * @param known the newest epoch with known validators
 */
export function epochsMissing(root: string, known: bigint | undefined, wanted: bigint): FeedError {
  const instead = 'copy their epoch_ending_* folders too, or ingest the backup without verifying signatures'
  const message =
    known === undefined
      ? `the epoch changes of the backup in ${root} do not reach a trusted waypoint; ${instead}`
      : `the backup in ${root} is missing the changes of epochs ${known} to ${wanted - 1n}, which name the validators of epoch ${wanted}; ${instead}`
  return new LedgerStateError('untrusted', message, { epoch: wanted, option: 'unsigned' })
}

// Nodes

export function notAUrl(text: string): FeedError {
  const shown = text.replace(/\/\/[^/]*@/, '//…@')
  return new LedgerStateError('invalid_argument', `${JSON.stringify(clip(shown))} is not a URL`)
}

/**
 * A request that asking again does not mend.
 * @param status of an answer that leads to another server; undefined if no request was sent
 */
export function requestRefused(url: string, why: string, status: number | undefined, method = 'GET'): FeedError {
  const outcome = status === undefined ? 'was not made' : 'was not answered'
  return new LedgerStateError('source_failed', `${method} ${url} ${outcome}: ${why}`)
}

export function beforeFeed(url: string, version: bigint, text: string): FeedError {
  const message = `${url}: version ${version} is older than the feed; begin with a snapshot of that node's store: ${text}`
  return new LedgerStateError('version_gap', message, { expected: version })
}

export function otherChain(url: string, found: string, expected: number): FeedError {
  return new LedgerStateError('chain_id_mismatch', `${url} now has chain ${found}; it had chain ${expected} before`)
}

export function nodeOnFork(url: string, version: bigint): FeedError {
  const message = `${url}: version ${version} does not continue the ledger read so far; the node is on a fork or on another network`
  return new LedgerStateError('ledger_fork', message, { version })
}

export function headWentBack(url: string, version: bigint, before: bigint): FeedError {
  const message = `${url}: the newest version is ${version}; it was ${before} before: the node has cut off the versions above`
  return new LedgerStateError('ledger_fork', message, { version })
}

// Buckets

export function notABucket(location: string): FeedError {
  const shown = location.replace(/\/\/[^/]*@/, '//…@')
  const message = `${JSON.stringify(clip(shown))} does not name a backup in a bucket; expected s3://BUCKET/PREFIX or gs://BUCKET/PREFIX`
  return new LedgerStateError('invalid_argument', message)
}

// Windows of backups

/**
 * A window that begins before the oldest state.
 * @param timeUsec time of the oldest state, if the backup has it
 */
export function snapshotTooNew(
  root: string,
  version: bigint,
  oldest: bigint | undefined,
  timeUsec: bigint | undefined,
): FeedError {
  const time = timeUsec === undefined ? '' : ` (${formatTime(timeUsec)})`
  const found =
    oldest === undefined ? 'it has no state' : `its oldest state is at version ${oldest}${time}, which is newer`
  const choice = oldest === undefined ? 'begin with another backup' : 'begin there or later, or with another backup'
  const message = `the backup in ${root} cannot begin at version ${version}: ${found}, and its transactions do not begin with version 0; ${choice}`
  return new LedgerStateError('invalid_argument', message)
}

export function backupAfterTime(root: string, timeUsec: bigint, firstUsec: bigint | undefined): FeedError {
  const first = firstUsec === undefined ? '' : `: its first epoch ended at ${formatTime(firstUsec)}`
  return new LedgerStateError(
    'invalid_argument',
    `the backup in ${root} does not reach back to ${formatTime(timeUsec)}${first}`,
  )
}

function formatTime(usec: bigint): string {
  const time = new Date(Number(usec / 1_000n))
  return Number.isNaN(time.getTime()) ? `${usec} µs` : time.toISOString()
}

// The backup service of a node

export function serviceRefused(url: string, status: number, text: string): FeedError {
  const why = status === 404 ? 'it is not the backup service of a node, or the node is too old' : text
  return new LedgerStateError('source_failed', `${url} answered ${status}: ${why}`)
}

/** Gives an error about bytes of a source its place: an error for the source that names where the bytes are. */
export function atPlace(error: LedgerStateError, place: string, codeOfBytes: FeedErrorCode): LedgerStateError {
  const code = error.code === 'invalid_bcs' ? codeOfBytes : error.code
  return new LedgerStateError(code, `${place}: ${error.message}`, error.fields, { cause: error })
}

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
