import { bytesToHexDigits } from '@ledger-state/core'
import { isSameBytes } from '@ledger-state/core/bytes'
import { type AuditFinding, type AuditRecord, MOST_FINDINGS } from './audit-record.js'

type Writable<Shape> = { -readonly [Member in keyof Shape]: Shape[Member] }

/** Findings of earlier ranges. */
export type FoundBefore = Pick<AuditRecord, 'findings' | 'findingCount' | 'compared' | 'withoutRoot' | 'goodVersion'>

/** Compares the roots of blocks in order, and joins successive differences into findings. */
export class FindingTracker {
  readonly #findings: Writable<AuditFinding>[]
  /** The finding that has not ended yet. */
  #open: Writable<AuditFinding> | undefined
  #count: number
  #goodBefore: bigint | null
  compared: number
  withoutRoot: number

  /** @param before earlier findings */
  constructor(before: FoundBefore) {
    this.#findings = before.findings.map((finding) => ({ ...finding }))
    this.#count = before.findingCount
    this.compared = before.compared
    this.withoutRoot = before.withoutRoot
    const last = this.#findings.at(-1)
    this.#open = last?.goodAfter === null ? last : undefined
    this.#goodBefore = before.goodVersion
  }

  /** Last version of the newest block whose root agrees; null if there is none. */
  get goodVersion(): bigint | null {
    return this.#goodBefore
  }

  get findings(): readonly AuditFinding[] {
    return this.#findings
  }

  get count(): number {
    return this.#count
  }

  /** Takes the next block. `given` is undefined if the ledger has no root. */
  take(version: bigint, computed: Uint8Array, given: Uint8Array | undefined): void {
    if (!given) {
      this.withoutRoot++
      return
    }
    this.compared++
    if (isSameBytes(computed, given)) {
      if (this.#open) this.#open.goodAfter = version
      this.#open = undefined
      this.#goodBefore = version
    } else if (this.#open) this.#open.lastWrong = version
    else this.#begin(version, computed, given)
  }

  #begin(version: bigint, computed: Uint8Array, given: Uint8Array): void {
    this.#open = {
      goodBefore: this.#goodBefore,
      firstWrong: version,
      lastWrong: version,
      goodAfter: null,
      given: bytesToHexDigits(given),
      computed: bytesToHexDigits(computed),
      candidates: null,
    }
    this.#count++
    if (this.#findings.length < MOST_FINDINGS) this.#findings.push(this.#open)
  }
}
