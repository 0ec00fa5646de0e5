import { bytesToHexDigits } from '@ledger-state/core'

/** Bytes whose hex is one piece. */
const PIECE_BYTES = 32_768

/** The hex of bytes, without 0x, in pieces. */
export function* hexPieces(bytes: Uint8Array): Generator<string, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytesToHexDigits(bytes.subarray(at, at + PIECE_BYTES))
}
