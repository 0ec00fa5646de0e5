/** Form of a value in a store. */
export interface Codec<Value> {
  /** Writes a value. */
  encode(value: Value): Uint8Array
  /** Reads bytes that `encode` wrote. @throws `invalid_bcs` if they are something else, unless the family says otherwise */
  decode(bytes: Uint8Array): Value
}

/** Values that are bytes, such as hashes. */
export const BYTES: Codec<Uint8Array> = { encode: (value) => value, decode: (bytes) => bytes }

const NOTHING = new Uint8Array(0)

/** Values that say something by being there. */
export const PRESENCE: Codec<true> = { encode: () => NOTHING, decode: () => true }
