// The main module of the process that audits the state root of each block of a store, which others write and serve.
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLedgerStateError } from '@ledger-state/core'
import { decodeCommitMark } from '@ledger-state/records'
import { type LmdbEngineReader, openStateEngineReader } from '@ledger-state/state-engine'
import { Registry } from 'prom-client'
import { loggedProgress } from '../observability/logged-progress.js'
import { createLogger, type LogSettings, type ProcessLogger } from '../observability/logger.js'
import { registerProcessMetrics } from '../observability/process-metrics.js'
import { auditAllRoots } from '../stores/audit-all-roots.js'
import { auditFolder } from '../stores/audit-folder.js'
import { describeAudit, describeFinding } from '../terminal/audit-text.js'
import { failProcess, processSettings, startReports, stopOrder } from './child.js'
import { createCpuShare } from './cpu-share.js'

export interface AuditProcessSettings {
  readonly dataDir: string
  /** Share of one core that the process takes, from 0 to 1. */
  readonly share: number
  /** See `AuditAllOptions`. */
  readonly proofsBudget: number | undefined
  readonly hashSalt: string | undefined
  readonly log: LogSettings
}

/** Niceness of the process: requests and the writer come first. */
const NICENESS = 10
/**
 * Bytes of hashed writes in memory, and writes whose roots are in memory (37 bytes each): together about 600 MB at
 * most.
 */
const MEMORY_BYTES = 2 ** 28
const RANGE_WRITES = 2 ** 23
const LOOK_INTERVAL_MS = 5_000
/**
 * Rest after an audit, in multiples of its time. It writes the whole state, 64 bytes a key, however few versions are
 * new.
 */
const REST_FACTOR = 9
/** Faults that may pass: the store has no root yet, or lost versions of the range meanwhile, or the disk was full. */
const PASSING: readonly string[] = [
  'no_ledger',
  'state_root_unknown',
  'version_pruned',
  'version_truncated',
  'audit_damaged',
  'audit_running',
  'spill_failed',
]

async function keepAudited(
  { dataDir, share, proofsBudget, hashSalt, log: logSettings, name }: AuditProcessSettings & { readonly name: string },
  stop: AbortSignal,
): Promise<void> {
  setPriority(NICENESS)
  const log = createLogger(logSettings, name)
  const registry = new Registry()
  registerProcessMetrics(registry, name, log)
  const engine = openStateEngineReader({ path: dataDir, verifyReads: true })
  const stopReports = startReports(registry, () => {
    engine.expectInPlace()
    return engine.ledger
  })
  const pace = createCpuShare(share)
  const said = { problem: '', findings: 0 }
  try {
    while (!stop.aborted) {
      const began = performance.now()
      await pace()
      await auditOnce(engine, { dataDir, proofsBudget, hashSalt, pace, stop, log, said })
      const restMs = Math.max(LOOK_INTERVAL_MS, REST_FACTOR * (performance.now() - began))
      await sleep(restMs, undefined, { signal: stop }).catch(() => {})
    }
  } finally {
    stopReports()
    await engine.close()
  }
}

interface Turn {
  readonly dataDir: string
  readonly proofsBudget: number | undefined
  readonly hashSalt: string | undefined
  readonly pace: () => Promise<void>
  readonly stop: AbortSignal
  readonly log: ProcessLogger
  /** The last log line, which is not logged again. */
  readonly said: { problem: string; findings: number }
}

async function auditOnce(engine: LmdbEngineReader, turn: Turn): Promise<void> {
  const { dataDir, proofsBudget, hashSalt, pace, stop, log, said } = turn
  try {
    const record = await auditAllRoots(engine, dataDir, {
      ...{ folder: auditFolder(dataDir), proofsBudget, hashSalt, pace, signal: stop, threads: 1 },
      ...{ memoryBytes: MEMORY_BYTES, rangeWrites: RANGE_WRITES },
      line: loggedProgress((text) => log.info(text)),
    })
    said.problem = ''
    if (record.findingCount > said.findings) {
      for (const finding of record.findings) for (const line of describeFinding(finding)) log.error(line)
      log.error(`audited ${describeAudit(record, decodeCommitMark(engine.mark).signed)}`)
    }
    said.findings = record.findingCount
  } catch (error) {
    if (stop.aborted) return
    if (!isLedgerStateError(error) || !PASSING.includes(error.code)) throw error
    if (error.message !== said.problem) log.warn(`the audit waits: ${error.message}`)
    said.problem = error.message
  }
}

keepAudited(processSettings(), stopOrder()).then(() => process.exit(), failProcess)
