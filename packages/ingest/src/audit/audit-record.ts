import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeDurably } from '@ledger-state/core/files'
import { auditUnreadable } from '../errors.js'

/** Keys that may have the wrong value of a finding. */
export interface AuditCandidates {
  /** Some of them, in hex. */
  readonly keys: readonly string[]
  /** Number of all of them. */
  readonly count: number
  /**
   * `both`: they are written where the roots begin to differ and where they agree again. `either`: no key is written in
   * both; a key whose write is missing is among them. `begin`: the roots never agree again.
   */
  readonly writtenAt: 'both' | 'either' | 'begin'
}

/** Successive blocks after which the state has another root than the ledger says. */
export interface AuditFinding {
  /** Last version of the newest block before whose root agrees; null if there is none. */
  readonly goodBefore: bigint | null
  /** Last version of the first block whose root differs. */
  readonly firstWrong: bigint
  /** Last version of the last block whose root differs. */
  readonly lastWrong: bigint
  /** Last version of the first block after them whose root agrees; null if there is none so far. */
  readonly goodAfter: bigint | null
  /** Roots of the first block, in hex: the one that the ledger says, and the one of the state. */
  readonly given: string
  readonly computed: string
  /** Null until they are known, or if the versions were pruned before. */
  readonly candidates: AuditCandidates | null
}

/** A file with cuts of the state tree: see `CutWriter`. */
export interface CutsOfVersions {
  readonly name: string
  /** Bytes of the file that count. */
  readonly bytes: number
  readonly depth: number
  /** First and last end of a block with a cut. */
  readonly first: bigint
  readonly last: bigint
  /** 1: every end of a block has a cut. Otherwise, the last one of each so many versions has one. */
  readonly spacing: bigint
}

/** Files from which proofs at ends of blocks are made. */
export interface AuditProofs {
  /** Name of the file with the keys of all audited versions. */
  readonly keysFile: string
  readonly keysBytes: number
  /** Keys with a value at the last audited version. */
  readonly keys: number
  /** Bytes that the files may take. */
  readonly budgetBytes: number
  /** In the order of their versions. */
  readonly cuts: readonly CutsOfVersions[]
}

/** Progress of an audit. */
export interface AuditRecord {
  /** The store, as `LmdbEngineReader.storeId`. */
  readonly storeId: string
  readonly hashSalt: string
  /** Number of the newest truncation of the ledger, or 0: see `branchOf`. */
  readonly branch: number
  /** First audited version. */
  readonly from: bigint
  /** Last audited version. */
  readonly version: bigint
  /** Root of the state at this version, in hex. */
  readonly root: string
  /** Last version of the newest block whose root agrees; null if there is none. */
  readonly goodVersion: bigint | null
  /** Name of the file with the leaves of the state at this version. */
  readonly leavesFile: string
  /** Digest of that file, in hex. */
  readonly leavesDigest: string
  /** Blocks whose root was computed and compared. */
  readonly compared: number
  /** Blocks for which the ledger has no root. */
  readonly withoutRoot: number
  /** At most `MOST_FINDINGS`, in the order of their versions. */
  readonly findings: readonly AuditFinding[]
  /** Number of all findings. */
  readonly findingCount: number
  /** Absent if no files for proofs are kept. */
  readonly proofs?: AuditProofs | undefined
}

/** Most findings that a record lists; more are counted. */
export const MOST_FINDINGS = 64
const RECORD_FILE = 'audit.json'
const VERSIONS = new Set([
  ...['from', 'version', 'goodVersion', 'goodBefore', 'firstWrong', 'lastWrong', 'goodAfter'],
  ...['first', 'last', 'spacing'],
])

/**
 * Reads the record of an audit in its folder. Undefined if there is none, or it is damaged.
 * @throws `spill_failed` if the system does not read it: without it, the next audit would begin anew
 */
export function readAuditRecord(folder: string): AuditRecord | undefined {
  const path = join(folder, RECORD_FILE)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw auditUnreadable(path, error)
  }
  const [body, sum] = text.split('\n')
  if (body === undefined || sum !== checksumOf(body)) return undefined
  return JSON.parse(body, (name, value: unknown) =>
    VERSIONS.has(name) && typeof value === 'string' ? BigInt(value) : value,
  ) as AuditRecord
}

/** Replaces the record of an audit. It is durable once the promise resolves. */
export async function writeAuditRecord(folder: string, record: AuditRecord): Promise<void> {
  const body = JSON.stringify(record, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  await writeDurably(join(folder, RECORD_FILE), `${body}\n${checksumOf(body)}\n`)
}

function checksumOf(body: string): string {
  return createHash('sha256').update(body).digest('hex')
}
