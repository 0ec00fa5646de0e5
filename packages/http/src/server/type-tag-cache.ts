import { SizedCache } from '@ledger-state/core'
import { parseTypeTag, type TypeTag } from '@ledger-state/type-tag'

/** Bytes that parsed tags take, about. */
const CAPACITY_BYTES = 1 << 20

/** Clients ask for few types many times, and the codec of a tag that was seen is found faster. */
export class TypeTagCache {
  readonly #parsed = new SizedCache<string, TypeTag>(CAPACITY_BYTES)

  /** @throws `invalid_type_tag` */
  parse(text: string): TypeTag {
    const known = this.#parsed.get(text)
    if (known) return known
    const tag = parseTypeTag(text)
    this.#parsed.set(text, tag, 256 + 4 * text.length)
    return tag
  }
}
