import { fork } from 'node:child_process'
import { once } from 'node:events'
import { LedgerStateError } from '@ledger-state/core'
import { type AuditFinding, checkHoldings, findDifferingKeys } from '@ledger-state/ingest'
import { decodeCommitMark } from '@ledger-state/records'
import { type CheckReport, type LmdbEngineReader, openStateEngineReader } from '@ledger-state/state-engine'
import type { Command, CommandInput } from '../config/command.js'
import { readHashSalt } from '../config/hash-salt.js'
import { option, parseWhole, switchOption } from '../config/option.js'
import { settings } from '../config/settings.js'
import {
  checkUnfinished,
  noLedgerErrors,
  outsideOfStore,
  storeCorrupt,
  storeRootsDiffer,
  usageError,
} from '../errors.js'
import type { CheckMessage } from '../processes/check-process.js'
import { childArguments } from '../processes/child.js'
import { auditAllRoots } from '../stores/audit-all-roots.js'
import { auditFolder } from '../stores/audit-folder.js'
import { auditStateRoot } from '../stores/audit-state-root.js'
import { openDatabaseReader } from '../stores/open-database.js'
import { openReader } from '../stores/open-reader.js'
import { type DatabasePlace, nameOfPlace, type StorePlace, storeOptions, storePlace } from '../stores/store-place.js'
import { formatCount, formatCounted } from '../terminal/amounts.js'
import { describeAudit, describeDiffering, describeFinding } from '../terminal/audit-text.js'
import { columns } from '../terminal/columns.js'
import { writeNotice } from '../terminal/notice.js'
import { untilStop } from '../until-stop.js'

const CHECK_PROCESS = new URL('../processes/check-process.js', import.meta.url)

/** Processes that are tried if each has a number that a process of another container has. */
const ATTEMPTS = 10
/** Signals of processes that read outside of their memory. */
const MEMORY_FAULTS: readonly NodeJS.Signals[] = ['SIGBUS', 'SIGSEGV']
const REASONS: Partial<Record<NodeJS.Signals, string>> = {
  SIGKILL: 'as the kernel does when memory is short: give it more memory',
  SIGBUS: 'which happens if a file was truncated',
  SIGSEGV: 'which happens if a file was truncated',
  SIGABRT: 'as Node.js does when its memory is exhausted and LMDB when a page contradicts itself: see the lines above',
}

/** Why a check that was stopped says nothing. */
const NOT_CHECKED = 'the store was not read to its end, and nothing is known about it; the same command begins again'

const stateRootOption = switchOption('state-root', 'compare the root of the state with the root in the ledger')
const allRootsOption = switchOption(
  'all-roots',
  'compare the root of the state at the end of each block with the root in the ledger',
)
const againOption = switchOption('again', 'with --all-roots, start over at the oldest version')
const workDirOption = option(
  'work-dir',
  'DIR',
  'with --all-roots, the folder of the audit; by default the folder audit in the folder of the store',
  (text) => text,
)
const compareOption = option(
  'compare-with',
  'DIR',
  'with --all-roots, another store of the ledger: if a state is wrong, the keys whose values differ are named',
  (text) => text,
)
const holdingsOption = switchOption(
  'holdings',
  'derive the index of holdings from the state at a version, and compare it with the stored index',
)
const jsonOption = switchOption('json', 'print the result as JSON; u64 values are strings')
const versionOption = option(
  'version',
  'VERSION',
  'with --state-root, the newest block end at or below it; with --holdings, the version (default the newest)',
  parseWhole,
)

export const checkCommand: Command = {
  name: 'check',
  summary:
    'Verifies the integrity of a store, even while it is written and served. The data file may grow during the check.',
  arguments: [],
  options: [
    ...storeOptions,
    stateRootOption,
    allRootsOption,
    againOption,
    workDirOption,
    compareOption,
    settings.proofsBudget,
    holdingsOption,
    jsonOption,
    versionOption,
    settings.network,
    settings.hashSalt,
  ],
  details: `--state-root computes the root of the whole state and compares it with the state root of the ledger at the end of the
newest block. If they are equal, the store holds the state of the chain to the last byte. The check reads one version while a writer commits,
hashes on all cores, and writes 64 bytes per key next to the store if the keys do not fit into 1 GiB of memory.

--all-roots does the same for the end of each block since the oldest version, and so verifies every past state. It
resumes an earlier run, even one that was killed, and works while a node serves and commits. For a wrong value it names the versions in
which the value is wrong, and the keys that may have it. docs/trust.md describes its resources and limits.

--json prints one line with the problems and the counts, and cannot be combined with other checks. It does not change the exit status.`,
  examples: [
    'ledger-state check --data-dir data/mainnet',
    'ledger-state check --state-root --data-dir data/mainnet',
    'ledger-state check --state-root --version 1638030465 --data-dir data/mainnet',
    'ledger-state check --all-roots --data-dir data/mainnet',
    'ledger-state check --holdings --data-dir data/mainnet',
  ],
  async run(input) {
    const place = storePlace(input, 'check')
    const version = input.get(versionOption)
    expectOneCheck(input)
    if (input.get(allRootsOption)) {
      await checkAllRoots(place, input)
      return
    }
    expectNoAuditOptions(input)
    if (input.get(stateRootOption)) await checkStateRoot(place, version, readHashSalt(input))
    else if (input.get(holdingsOption)) await checkIndex(place, version)
    else if (version !== undefined) throw usageError('--version needs --state-root or --holdings')
    else if (place.kind === 'database') await checkDatabase(place, input.get(jsonOption))
    else await checkFolder(place.dataDir, input.get(jsonOption))
  },
}

function expectOneCheck(input: CommandInput): void {
  const [asked, ...others] = [allRootsOption, stateRootOption, holdingsOption].filter((option) => input.get(option))
  if (!asked) return
  if (others.length > 0) {
    throw usageError(`one check at a time: --${[asked, ...others].map(({ name }) => name).join(' or --')}`)
  }
  if (input.get(jsonOption))
    throw usageError(`--json prints the counts of a whole store; it cannot be combined with --${asked.name}`)
}

/** Refuses the options of `--all-roots`. */
function expectNoAuditOptions(input: CommandInput): void {
  if (input.get(againOption)) throw usageError('--again needs --all-roots')
  if (input.get(settings.proofsBudget) !== undefined) throw usageError('--proofs-budget needs --all-roots')
  if (input.get(compareOption) !== undefined) throw usageError('--compare-with needs --all-roots')
  if (input.get(workDirOption) !== undefined) throw usageError('--work-dir needs --all-roots')
}

async function checkFolder(path: string, asJson: boolean): Promise<void> {
  const report = await untilStop(NOT_CHECKED, (signal) => checkInProcess(path, signal))
  const { problems } = report
  const what = formatCounted(report.records, 'record')
  if (asJson) process.stdout.write(`${JSON.stringify(reportFacts(report))}\n`)
  else {
    printOutcome(problems, what)
    process.stdout.write(`${columns(reportRows(report))}\n`)
  }
  if (problems.length > 0) throw storeCorrupt.damagedStore(path, problems.length, what)
}

async function checkStateRoot(
  place: StorePlace,
  version: bigint | undefined,
  hashSalt: string | undefined,
): Promise<void> {
  await untilStop(NOT_CHECKED, async (signal) => {
    const engine = await openReader(place)
    try {
      process.stdout.write(`${await auditStateRoot(engine, place, { version, hashSalt, signal })}\n`)
    } catch (error) {
      throw outsideOfStore(error, engine.ledger)
    } finally {
      await engine.close()
    }
  })
}

async function checkAllRoots(place: StorePlace, input: CommandInput): Promise<void> {
  if (place.kind === 'database')
    throw usageError('--all-roots audits a store in a folder; --state-root one version of any store')
  if (input.get(versionOption) !== undefined)
    throw usageError('--all-roots audits all versions; --version is for --state-root')
  const { dataDir } = place
  await untilStop('the same command continues the audit', (signal) => auditRoots(dataDir, input, signal))
}

async function auditRoots(dataDir: string, input: CommandInput, signal: AbortSignal): Promise<void> {
  const engine = openStateEngineReader({ path: dataDir, verifyReads: true })
  try {
    const record = await auditAllRoots(engine, dataDir, {
      folder: input.get(workDirOption) ?? auditFolder(dataDir),
      isAgain: input.get(againOption),
      proofsBudget: input.get(settings.proofsBudget),
      hashSalt: readHashSalt(input),
      signal,
    })
    const { signed } = decodeCommitMark(engine.mark)
    for (const finding of record.findings) process.stdout.write(`${describeFinding(finding).join('\n')}\n`)
    const compared = input.get(compareOption)
    if (compared !== undefined) await nameDifferences(engine, compared, record.findings)
    process.stdout.write(`audited ${describeAudit(record, signed)}\n`)
    const { latestVersion } = engine.ledger!
    if (latestVersion > record.version) {
      const later = `versions ${record.version + 1n} to ${latestVersion} are not audited: the ledger has no root after them yet`
      process.stdout.write(`${later}\n`)
    }
    if (record.findingCount > 0) throw storeRootsDiffer(dataDir, record.findingCount)
  } finally {
    await engine.close()
  }
}

/** Names the keys of findings by another store. */
async function nameDifferences(
  engine: LmdbEngineReader,
  dataDir: string,
  findings: readonly AuditFinding[],
): Promise<void> {
  const other = openStateEngineReader({ path: dataDir, verifyReads: true })
  try {
    for (const finding of findings) {
      const { oldestVersion } = engine.ledger!
      if (finding.firstWrong < oldestVersion) continue
      const differing = await findDifferingKeys(engine, other, finding)
      process.stdout.write(`${describeDiffering(finding, dataDir, differing).join('\n')}\n`)
    }
  } finally {
    await other.close()
  }
}

async function checkIndex(place: StorePlace, version: bigint | undefined): Promise<void> {
  if (place.kind === 'database') throw usageError('--holdings checks a store in a folder')
  const { dataDir } = place
  await untilStop(NOT_CHECKED, (signal) => checkIndexOf(dataDir, version, signal))
}

async function checkIndexOf(dataDir: string, version: bigint | undefined, signal: AbortSignal): Promise<void> {
  const engine = openStateEngineReader({ path: dataDir, verifyReads: true })
  try {
    const { ledger } = engine
    if (!ledger) throw noLedgerErrors.emptyStore(dataDir)
    const report = await checkHoldings(engine, version ?? ledger.latestVersion, signal)
    if (!report) throw usageError('the store has no index of holdings: ledger-state index builds it')
    for (const problem of report.problems) process.stdout.write(`${problem}\n`)
    const what = `${formatCounted(report.rows, 'row')} of the index of holdings at version ${report.version}`
    if (report.problems.length > 0) throw storeCorrupt.damagedStore(dataDir, report.problems.length, what)
    process.stdout.write(`sound: ${what}\n`)
  } catch (error) {
    throw outsideOfStore(error, engine.ledger)
  } finally {
    await engine.close()
  }
}

/** @param what the records that were checked */
function printOutcome(problems: readonly string[], what: string): void {
  for (const problem of problems) process.stdout.write(`${problem}\n`)
  if (problems.length === 0) process.stdout.write(`sound: ${what}\n`)
}

/** The report for JSON, in which versions are strings. */
function reportFacts(report: CheckReport) {
  const { firstVersion, lastVersion } = report
  return {
    problems: report.problems,
    records: report.records,
    oldest_ledger_version: firstVersion === undefined ? null : String(firstVersion),
    ledger_version: lastVersion === undefined ? null : String(lastVersion),
    blocks: report.blocks,
    keys: report.keys,
    superseded_entries: report.supersededEntries,
    unmerged_writes: report.unmergedWrites,
    unmerged_commits: report.unmergedCommits,
    unreadable_bytes: report.unreadableBytes,
  }
}

function reportRows(report: CheckReport): (readonly [string, string])[] {
  const { firstVersion, lastVersion, blocks, unreadableBytes } = report
  const keys = formatCounted(report.keys, 'key')
  const superseded = formatCounted(report.supersededEntries, 'superseded value')
  const writes = formatCounted(report.unmergedWrites, 'write')
  const commits = formatCounted(report.unmergedCommits, 'commit')
  return [
    ['versions', firstVersion === undefined ? 'none' : `${firstVersion} to ${lastVersion}`],
    ['blocks', formatCount(blocks)],
    ['segment files', `${keys}, ${superseded}`],
    ['write-ahead log', `${writes} in ${commits}, not merged yet`],
    ...(unreadableBytes > 0
      ? [['bytes of the log that are in no commit', formatCount(unreadableBytes)] satisfies [string, string]]
      : []),
  ]
}

/** Checks the content of the engine's tables. The server itself checks its pages. */
async function checkDatabase(place: DatabasePlace, asJson: boolean): Promise<void> {
  const engine = await openDatabaseReader(place)
  try {
    const { problems, versions, keys, writes } = await untilStop(NOT_CHECKED, (signal) => engine.check({ signal }))
    const what = `${formatCounted(versions, 'version')}: ${formatCounted(keys, 'key')}, ${formatCounted(writes, 'write')}`
    if (asJson) process.stdout.write(`${JSON.stringify({ problems, versions: String(versions), keys, writes })}\n`)
    else printOutcome(problems, what)
    if (problems.length > 0) throw storeCorrupt.damagedStore(nameOfPlace(place), problems.length, what)
  } finally {
    await engine.close()
  }
}

/**
 * Checks a store in a separate process. If a process of another container has its number, another one is started,
 * which gets another number.
 * @throws `store_corrupt` if reading the store ends that process twice; `unfinished` if something else ends it; the
 *   errors of that process
 */
async function checkInProcess(path: string, stop: AbortSignal): Promise<CheckReport> {
  let fault: NodeJS.Signals | undefined
  for (let attempt = 1; ; attempt++) {
    const said = await runCheckProcess(path, stop)
    if ('report' in said) return said.report
    if ('signal' in said) {
      const { signal } = said
      if (!MEMORY_FAULTS.includes(signal)) throw checkUnfinished(path, endedBy(signal))
      if (signal === fault) throw storeCorrupt.deadlyStore(path, signal)
      // A signal that somebody sent does not come again.
      writeNotice(checkUnfinished(path, endedBy(signal)).message)
      fault = signal
    } else if (!said.isNumberTaken || attempt >= ATTEMPTS) {
      if (said.code === undefined) throw new Error(said.message)
      throw new LedgerStateError(said.code, said.message)
    }
  }
}

async function runCheckProcess(
  path: string,
  stop: AbortSignal,
): Promise<CheckMessage | { readonly signal: NodeJS.Signals }> {
  stop.throwIfAborted()
  const child = fork(CHECK_PROCESS, [path], {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: childArguments(),
    // It only reads.
    signal: stop,
    killSignal: 'SIGKILL',
  })
  let said: CheckMessage | undefined
  child.once('message', (message: CheckMessage) => {
    said = message
  })
  // When the channel closes, all messages of the process have come in.
  const ended = Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  const [[status, signal]] = (await ended.catch((error: Error) => {
    throw checkUnfinished(path, `its process cannot be started: ${error.message}`)
  })) as [[number | null, NodeJS.Signals | null], unknown]
  if (said) return said
  if (signal === null) throw checkUnfinished(path, `its process ended with status ${status}`)
  return { signal }
}

function endedBy(signal: NodeJS.Signals): string {
  const because = REASONS[signal]
  return `its process was ended by ${signal}${because === undefined ? '' : `, ${because}`}`
}
