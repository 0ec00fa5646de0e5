import { setImmediate as nextTurn } from 'node:timers/promises'
import { numberedKeyId, numberedKeyPart, numberedKeySeed } from '../bytes/numbered-key.js'
import { openRecord } from '../bytes/record.js'
import type { LmdbStore } from '../lmdb/lmdb-store.js'
import { checkFrame, type PackedBytes } from '../records/bundle-reader.js'
import type { LargeBytes } from '../records/large-values.js'
import type { CheckFindings } from './check-findings.js'

/** Checks that exactly one record refers to each large value, and that all of its pieces exist. */
export class LargeCheck {
  readonly #store: LmdbStore
  readonly #findings: CheckFindings
  /** Length of each large value that a record refers to, by id. */
  readonly #named = new Map<number, number>()
  /** Generations whose garbage lists must name large values that chunks refer to, by id. */
  readonly #missingGarbage = new Map<number, { readonly length: number; readonly generation: number }>()

  /** Generations whose garbage lists must name bundles, by id. */
  readonly #bundles = new Map<number, number>()
  /** Ranges of each frame that chunks refer to, by the id of the bundle and the place of the frame. */
  readonly #frames = new Map<number, Map<number, number>>()

  constructor(store: LmdbStore, findings: CheckFindings) {
    this.#store = store
    this.#findings = findings
  }

  /** Counts the reference to a large value that is in use, or in a garbage list. There must be exactly one. */
  name({ id, length }: LargeBytes): void {
    if (this.#named.has(id)) this.#findings.add(`two records refer to large value ${id}`)
    this.#named.set(id, length)
  }

  /** Notes that a chunk refers to a value, which the garbage list of its generation must name. */
  expectGarbage({ id, length }: LargeBytes, generation: number): void {
    if (this.#missingGarbage.has(id)) this.#findings.add(`two chunks refer to large value ${id}`)
    this.#missingGarbage.set(id, { length, generation })
  }

  /** Notes that a chunk refers to a value in a bundle, which the garbage list of its generation must name. */
  expectBundle({ id, frame, start, length }: PackedBytes, generation: number): void {
    const other = this.#bundles.get(id)
    if (other !== undefined && other !== generation) this.#findings.add(`two generations refer to bundle ${id}`)
    this.#bundles.set(id, generation)
    const frames = this.#frames.get(id) ?? new Map<number, number>()
    frames.set(frame, Math.max(start + length, frames.get(frame) ?? 0))
    this.#frames.set(id, frames)
  }

  nameGarbage(large: LargeBytes, generation: number): void {
    this.name(large)
    const expected = this.#missingGarbage.get(large.id)
    if (expected && (expected.length !== large.length || expected.generation !== generation)) {
      this.#findings.add(
        `the garbage list of generation ${generation} names large value ${large.id}, to which another one refers`,
      )
    }
    this.#missingGarbage.delete(large.id)
    const bundle = this.#bundles.get(large.id)
    if (bundle !== undefined && bundle !== generation) {
      this.#findings.add(
        `the garbage list of generation ${generation} names bundle ${large.id}, to which another one refers`,
      )
    }
    this.#bundles.delete(large.id)
  }

  /** Checks the large values. Call it last. */
  async check(nextLargeId: number): Promise<void> {
    const found = new Map<number, number>()
    for await (const { key, value } of this.#findings.each(this.#store.large)) {
      const id = numberedKeyId(key)
      const what = () => `piece ${numberedKeyPart(key)} of the large value ${id}`
      const content = this.#findings.attempt(() => openRecord(value, numberedKeySeed(key), what))
      if (id >= nextLargeId) this.#findings.add(`the id of large value ${id} was never assigned`)
      found.set(id, (found.get(id) ?? 0) + (content?.length ?? 0))
    }
    for (const [id, length] of this.#named) {
      if (found.get(id) !== length) this.#findings.add(`large value ${id} has ${found.get(id) ?? 0} bytes of ${length}`)
      found.delete(id)
    }
    for (const id of this.#missingGarbage.keys())
      this.#findings.add(`large value ${id} was superseded and is in no garbage list`)
    for (const id of this.#bundles.keys()) this.#findings.add(`bundle ${id} is in use and in no garbage list`)
    for (const id of found.keys()) this.#findings.add(`nothing refers to large value ${id}`)
    for (const [id, frames] of this.#frames) await this.#checkFrames(id, frames)
  }

  async #checkFrames(id: number, frames: Map<number, number>): Promise<void> {
    const bundleLength = this.#named.get(id) ?? 0
    for (const [frame, needed] of frames) {
      const found = this.#findings.attempt(() => checkFrame(this.#store, id, frame, this.#findings.options))
      if (found && (found.length < needed || found.end > bundleLength)) {
        this.#findings.add(
          `a frame of the bundle ${id} is shorter than what is in use of it, or goes beyond the bundle`,
        )
      }
      await nextTurn()
    }
  }
}
