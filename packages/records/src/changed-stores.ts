// Values of the rows that name the stores that an owner of many changes at a version.

const SINCE_LENGTH = 8
/** Bytes of an address that name a store: few of 10⁶ stores of an owner share them with another one. */
const STORE_NAME_LENGTH = 3

/** The stores of an owner that a version wrote. */
export interface ChangedStores {
  /** Version since which a row names each write of a store of the owner. */
  readonly since: bigint
  /** `storeNameOf` of each, in ascending order. Other stores may have the same names. */
  readonly names: readonly number[]
  /** Whether the names include all stores that the owner had before `since`; true only for the row of `since`. */
  readonly hasEarlier?: boolean | undefined
}

/** Bit of `since` in the rows with the names of earlier stores. */
const HAS_EARLIER = 1n << 63n

/** The first three bytes of the address of a store, as a number. */
export function storeNameOf(store: Uint8Array): number {
  return (store[0]! << 16) | (store[1]! << 8) | store[2]!
}

/** The first bytes of the address of a store with this name. */
export function storeNameToBytes(name: number): Uint8Array {
  return Uint8Array.of(name >> 16, name >> 8, name)
}

/** Encodes the stores that a version wrote. */
export function encodeChangedStores({ since, names, hasEarlier = false }: ChangedStores): Uint8Array {
  const bytes = new Uint8Array(SINCE_LENGTH + names.length * STORE_NAME_LENGTH)
  new DataView(bytes.buffer).setBigUint64(0, hasEarlier ? since | HAS_EARLIER : since)
  let at = SINCE_LENGTH
  for (const name of names) {
    bytes[at++] = name >> 16
    bytes[at++] = name >> 8
    bytes[at++] = name
  }
  return bytes
}

/** Decodes the bytes of `encodeChangedStores`. */
export function decodeChangedStores(bytes: Uint8Array): ChangedStores {
  const names: number[] = []
  for (let at = SINCE_LENGTH; at < bytes.length; at += STORE_NAME_LENGTH) names.push(storeNameOf(bytes.subarray(at)))
  const first = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0)
  return { since: first & ~HAS_EARLIER, names, ...(first >= HAS_EARLIER && { hasEarlier: true }) }
}
