import { Buffer } from 'node:buffer'
import { counterSeed } from '../bytes/counter-key.js'
import { numberedKeyId, numberedKeyPart, numberedKeySeed } from '../bytes/numbered-key.js'
import { openRecord } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { SharedRecord } from '../lmdb/shared-record.js'
import type { Fence } from '../records/fences.js'
import { decodeGarbage } from '../records/garbage-list.js'
import { decodeGeneration, type Generation, getMerging } from '../records/generations.js'
import {
  CHUNK_LEVEL,
  decodeChunk,
  decodeNode,
  isPacked,
  pairPayload,
  recordLevel,
} from '../records/history-log-record.js'
import { isLarge } from '../records/latest-record.js'
import type { LedgerRecord } from '../records/ledger-record.js'
import { toPlainChunk } from '../records/transposed-chunk.js'
import type { CheckFindings } from './check-findings.js'
import type { LargeCheck } from './check-large.js'

interface NumberedGeneration extends Generation {
  readonly number: number
  /** Whether the whole generation is above the oldest version, so that no prune has begun to drop it. */
  readonly isKept: boolean
  readonly isMerging: boolean
}

/**
 * Checks what a store keeps besides the newest writes of keys: the history log, the generations, and the garbage lists
 * of these.
 */
export class HistoryCheck {
  /** Number of superseded values that the window sees. */
  seenPairs = 0
  /** Number of bytes of superseded values. */
  payloadBytes = 0
  readonly #store: LmdbStore
  readonly #findings: CheckFindings
  readonly #large: LargeCheck
  readonly #record: LedgerRecord
  readonly #reverting: bigint | undefined
  readonly #shared = new SharedRecord()
  /** Generations, the oldest first. */
  #generations: NumberedGeneration[] = []
  /** Numbers of the records of the history log that fences lead to. */
  readonly #reached = new Set<number>()
  /** Deletions that were not found in a garbage list yet. */
  readonly #missingGarbage = new Set<string>()

  /** Starts a check. `reverting` is the newest version that records may have while a truncation is under way. */
  constructor(
    store: LmdbStore,
    findings: CheckFindings,
    large: LargeCheck,
    record: LedgerRecord,
    reverting: bigint | undefined,
  ) {
    this.#reverting = reverting
    this.#store = store
    this.#findings = findings
    this.#large = large
    this.#record = record
  }

  /** Checks the generations. Call it first. */
  async checkGenerations(): Promise<void> {
    const { ledger, nextHistoryNumber, nextGeneration, supersededEntries, garbageRecords } = this.#record
    const findings = this.#findings
    const found: NumberedGeneration[] = []
    const isKept = ({ upTo }: Generation) => upTo > ledger.oldestVersion
    for await (const { key, value } of findings.each(this.#store.generations)) {
      const generation = findings.attempt(() => decodeGeneration(key, value))
      if (generation) found.push({ ...generation, number: key, isKept: isKept(generation), isMerging: false })
    }
    const merging = findings.attempt(() => getMerging(this.#store, findings.options))
    if (merging) found.push({ ...merging, number: nextGeneration, isKept: true, isMerging: true })
    for (const [at, { number, firstNumber, endNumber, upTo, isMerging }] of found.entries()) {
      const before = found[at - 1]
      if (
        (before && (before.endNumber !== firstNumber || (!isMerging && before.upTo > upTo))) ||
        endNumber < firstNumber
      ) {
        findings.add(`generation ${number} does not follow the one before`)
      }
      if (!isMerging && (upTo > (this.#reverting ?? ledger.latestVersion) || number >= nextGeneration)) {
        findings.add(`generation ${number}, up to version ${upTo}, was never merged`)
      }
    }
    const end = found.at(-1)?.endNumber ?? nextHistoryNumber
    if (end !== nextHistoryNumber)
      findings.add(
        `the generations end with record ${end} of the history log, the ledger record with ${nextHistoryNumber}`,
      )
    const sum = (count: (generation: Generation) => number) => found.reduce((total, one) => total + count(one), 0)
    this.#expectCount(
      'superseded values in its generations',
      sum((one) => one.pairs),
      supersededEntries,
    )
    this.#expectCount(
      'records of garbage in its generations',
      sum((one) => one.garbageRecords),
      garbageRecords,
    )
    this.#generations = found
  }

  /** Follows the fences of a key, whose newest merged write has the given version. */
  checkFences(fences: readonly Fence[], version: bigint, name: () => string): void {
    this.#checkInterval(fences, version, Number.POSITIVE_INFINITY, name)
  }

  /** Notes a deletion of a key, which must be in the garbage list of the generation that merged it. */
  expectGarbage(storedKey: Uint8Array, version: bigint): void {
    this.#missingGarbage.add(deletionName(storedKey, version))
  }

  /** Checks the history log. Call it after the fences of all keys. */
  async checkHistoryLog(): Promise<void> {
    const sums = new Map<NumberedGeneration, { pairs: number; payloadBytes: number }>()
    for await (const { key: number, value } of this.#findings.each(this.#store.historyLog)) {
      const generation = this.#generationOf(number)
      if (!generation) {
        this.#findings.add(`record ${number} of the history log belongs to no generation`)
        continue
      }
      const sum = sums.get(generation) ?? { pairs: 0, payloadBytes: 0 }
      sums.set(generation, sum)
      this.#findings.attempt(() => this.#checkHistoryRecord(number, value, generation, sum))
    }
    for (const generation of this.#generations) {
      const { pairs, payloadBytes } = sums.get(generation) ?? { pairs: 0, payloadBytes: 0 }
      this.payloadBytes += generation.isKept ? payloadBytes : generation.payloadBytes
      // It is not known exactly what is left of a generation that is being dropped.
      if (!generation.isKept) continue
      this.#expectCount(`superseded values of generation ${generation.number}`, pairs, generation.pairs)
      this.#expectCount(`bytes of payload of generation ${generation.number}`, payloadBytes, generation.payloadBytes)
    }
  }

  /** Checks the garbage lists. Call it after the history log. */
  async checkGarbage(): Promise<void> {
    const counts = new Map<number, number>()
    for await (const { key, value } of this.#findings.each(this.#store.garbage)) {
      const number = numberedKeyId(key)
      counts.set(number, (counts.get(number) ?? 0) + 1)
      const generation = this.#generations.find((one) => one.number === number)
      if (!generation) this.#findings.add(`the garbage of generation ${number} is left, but not the generation`)
      const what = () => `record ${numberedKeyPart(key)} of the garbage of generation ${number}`
      this.#findings.attempt(() => {
        for (const entry of decodeGarbage(openRecord(value, numberedKeySeed(key), what))) {
          if (entry.kind === 'deletion') {
            // A prune passes over entries that were cut off.
            const isPassedOver = generation && !generation.isMerging && entry.version > generation.upTo
            if (!isPassedOver) this.#missingGarbage.delete(deletionName(entry.storedKey, entry.version))
          } else this.#large.nameGarbage(entry.large, number)
        }
      })
    }
    for (const { number, garbageRecords } of this.#generations) {
      this.#expectCount(`records of the garbage of generation ${number}`, counts.get(number) ?? 0, garbageRecords)
    }
    for (const name of this.#missingGarbage) this.#findings.add(`${name} is not in the garbage list of any generation`)
  }

  /** Checks that fences ascend and lead to matching records, and that the last interval ends at the version `end`. */
  #checkInterval(fences: readonly Fence[], end: bigint, above: number, name: () => string): void {
    for (const [at, fence] of fences.entries()) {
      const { firstVersion, level, number } = fence
      const fenceEnd = fences[at + 1]?.firstVersion ?? end
      if (firstVersion >= fenceEnd)
        this.#findings.add(`${name()} has a fence of version ${firstVersion} before ${fenceEnd}`)
      if (level >= above || level > (fences[at - 1]?.level ?? level)) {
        this.#findings.add(`${name()} has a fence of level ${level} in a wrong place`)
        continue
      }
      if (this.#reached.has(number)) this.#findings.add(`two fences lead to record ${number} of the history log`)
      this.#reached.add(number)
      // A prune may have dropped records that no version of the window sees.
      if (fenceEnd <= this.#record.ledger.oldestVersion) continue
      const generation = this.#generationOf(number)
      if (generation && (generation.upTo >= fenceEnd || generation.isMerging)) {
        this.#findings.attempt(() => this.#checkBehind(fence, fenceEnd, name))
      } else
        this.#findings.add(
          `${name()} has a fence to record ${number} of the history log, in no generation that keeps it`,
        )
    }
  }

  /** Finds the generation that wrote a record of the history log. */
  #generationOf(number: number): NumberedGeneration | undefined {
    let least = 0
    let most = this.#generations.length
    while (least < most) {
      const middle = (least + most) >> 1
      if (this.#generations[middle]!.firstNumber <= number) least = middle + 1
      else most = middle
    }
    const found = this.#generations[least - 1]
    return found && number < found.endNumber ? found : undefined
  }

  #checkBehind({ firstVersion, level, number }: Fence, end: bigint, name: () => string): void {
    const shared = this.#shared
    const what = () => `${name()}: record ${number} of the history log`
    if (!shared.load(this.#store.historyLog, number, this.#findings.options)) {
      this.#findings.add(`${what()} is missing`)
      return
    }
    shared.verify(counterSeed(number))
    const versions: bigint[] = []
    if (level === CHUNK_LEVEL) for (const { version } of decodeChunk(toPlainChunk(shared))) versions.push(version)
    else {
      const fences = decodeNode(shared, level)
      for (const { firstVersion } of fences) versions.push(firstVersion)
      this.#checkInterval(fences, end, level, name)
    }
    if (versions[0] !== firstVersion) this.#findings.add(`${what()} begins with ${versions[0]}, not ${firstVersion}`)
    for (const [at, version] of versions.entries()) {
      const supersededBy = versions[at + 1] ?? end
      if (version >= supersededBy) this.#findings.add(`${what()} has version ${version} before ${supersededBy}`)
      if (level === CHUNK_LEVEL && supersededBy > this.#record.ledger.oldestVersion) this.seenPairs++
    }
  }

  #checkHistoryRecord(
    number: number,
    value: Buffer,
    generation: NumberedGeneration,
    sum: { pairs: number; payloadBytes: number },
  ): void {
    openRecord(value, counterSeed(number), () => `record ${number} of the history log`)
    const shared = this.#shared
    if (!shared.load(this.#store.historyLog, number, this.#findings.options)) return
    const level = recordLevel(shared)
    const isChunk = level === CHUNK_LEVEL
    const chunk = isChunk ? toPlainChunk(shared) : shared
    const pairs = isChunk ? decodeChunk(chunk) : []
    const last = isChunk ? pairs.at(-1)!.version : decodeNode(shared, level).at(-1)!.firstVersion
    if (!this.#reached.has(number) && last >= this.#record.ledger.oldestVersion) {
      this.#findings.add(`no fence leads to record ${number} of the history log, which has version ${last}`)
    }
    for (const [at, pair] of pairs.entries()) {
      sum.payloadBytes += pairPayload(chunk, at)
      const { value: kept } = pair
      if (!kept || !generation.isKept) continue
      if (isPacked(kept)) this.#large.expectBundle(kept, generation.number)
      else if (isLarge(kept)) this.#large.expectGarbage(kept, generation.number)
    }
    sum.pairs += pairs.length
  }

  #expectCount(what: string, found: number, counted: number): void {
    if (found !== counted) this.#findings.add(`the store has ${found} ${what}, but counts ${counted}`)
  }
}

function deletionName(storedKey: Uint8Array, version: bigint): string {
  return `the deletion of ${Buffer.from(storedKey.subarray(1)).toString('hex')} at version ${version}`
}
