import { ByteWriter, bytesToHex } from '@ledger-state/core'

/** The account data of an answer, in both formats. */
export interface AccountAnswer {
  /** BCS of `0x1::account::Account`. */
  readonly bytes: Uint8Array
  readonly json: string
}

/**
 * The account that an address has before anything is stored there. Chains with the feature of default accounts answer
 * so for every address without a resource `0x1::account::Account`.
 */
export function impliedAccount(address: Uint8Array): AccountAnswer {
  const writer = new ByteWriter().byteString(address).u64(0n).u64(2n)
  for (const creationNumber of [0n, 1n]) writer.u64(0n).u64(creationNumber).bytes(address)
  return {
    bytes: writer.bool(false).bool(false).toBytes(),
    json: `{"sequence_number":"0","authentication_key":"${bytesToHex(address)}"}`,
  }
}
