import type { Codec } from '@ledger-state/bcs'
import { type ByteReader, bytesToHexDigits, isLedgerStateError, type Steps } from '@ledger-state/core'
import { copyBytes } from '@ledger-state/core/bytes'
import { readGroupMembers, readStructTag, type StateKey, type StructTag, skipTag } from '@ledger-state/type-tag'
import { resourceTypeToText } from '../resources/resource-type-text.js'
import type { LedgerState } from '../state/ledger-state.js'
import { orUndefined, orUndefinedInSteps } from '../transactions/render/render-context.js'
import { isUnreadable } from '../types/unreadable.js'

/** A type that groups have as a member. */
interface MemberType {
  readonly tag: StructTag
  readonly bytes: Uint8Array
  /** The name of the member in JSON, with its colon. */
  readonly name: string
}

/**
 * Prints values that were written in a span of versions in which no module was written, except in the first of them:
 * each type is resolved once for the span.
 */
export class ValuePrinter {
  readonly #state: LedgerState
  /** Codecs by their tags as objects; undefined for a type that cannot be resolved. */
  readonly #codecs = new Map<StructTag, Codec | undefined>()
  readonly #members = new Map<string, MemberType>()
  /** Members of the last group: the next one mostly has the same. */
  #last: readonly MemberType[] = []

  /** @param state at any version of the span */
  constructor(state: LedgerState) {
    this.#state = state
  }

  /**
   * A value as JSON: of a resource, or of the members of a group by their types. Undefined for other kinds, and if it
   * cannot be decoded. Keys of one type that share its tag save time.
   */
  toJson(key: StateKey, value: Uint8Array): string | undefined {
    if (key.kind === 'resource') return this.#orUnknown(() => this.#print(key.tag, value))
    if (key.kind === 'resourceGroup') return this.#orUnknown(() => this.#printGroup(value))
    return undefined
  }

  #printGroup(value: Uint8Array): string | undefined {
    let at = 0
    const expected = this.#last
    const members = readGroupMembers(value, (reader) => this.#readMember(reader, expected[at++]))
    this.#last = members.map(({ name }) => name)
    let text = '{'
    for (const { name, bytes } of members) {
      const data = this.#print(name.tag, bytes)
      if (data === undefined) return undefined
      text += text.length === 1 ? name.name + data : `,${name.name}${data}`
    }
    return `${text}}`
  }

  #readMember(reader: ByteReader, expected: MemberType | undefined): MemberType {
    if (expected && skipTag(reader, expected.bytes)) return expected
    const start = reader.offset
    const tag = readStructTag(reader)
    const bytes = copyBytes(reader.bytes, start, reader.offset)
    const text = bytesToHexDigits(bytes)
    const known = this.#members.get(text)
    if (known) return known
    const member = { tag, bytes, name: `${JSON.stringify(resourceTypeToText(tag))}:` }
    this.#members.set(text, member)
    return member
  }

  #print(tag: StructTag, value: Uint8Array): string | undefined {
    let codec = this.#codecs.get(tag)
    if (!codec && !this.#codecs.has(tag)) {
      const { view, source } = this.#state
      codec = this.#orUnknown(() => source.types.resolve(tag, view))
      this.#codecs.set(tag, codec)
    }
    return codec?.bytesToJson(value)
  }

  /** The result of decoding; undefined if it cannot be decoded, or needs a module that a slice does not keep. */
  #orUnknown<T>(decode: () => T): T | undefined {
    return orUnknown(this.#state, decode)
  }
}

/** The result of decoding; undefined if it cannot be decoded, or needs a module that a slice does not keep. */
function orUnknown<T>(state: LedgerState, decode: () => T): T | undefined {
  try {
    return orUndefined(decode)
  } catch (error) {
    return undefinedIfUnknown(state, error)
  }
}

/** As `orUnknown`, in steps. */
export function* orUnknownInSteps<T>(state: LedgerState, steps: Steps<T>): Steps<T | undefined> {
  try {
    return yield* orUndefinedInSteps(steps)
  } catch (error) {
    return undefinedIfUnknown(state, error)
  }
}

function undefinedIfUnknown(state: LedgerState, error: unknown): undefined {
  if (isUnreadable(error)) return undefined
  // Over a slice it does not say that the version is pruned, so a caller could not continue.
  if (state.source.sliced && isLedgerStateError(error, 'version_pruned')) return undefined
  throw error
}
