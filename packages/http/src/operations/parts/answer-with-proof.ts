import { ByteWriter, type Steps } from '@ledger-state/core'
import type { AnswerBytes } from '../../admission/answer-bytes.js'

/** Writes `{"value":…,"proof":…}` from the JSON of both, in steps. */
export function* writeJsonWithProof(
  out: AnswerBytes,
  value: string | Uint8Array,
  proof: Iterable<string>,
): Steps<AnswerBytes> {
  out.text('{"value":')
  yield* typeof value === 'string' ? out.textInSteps(value) : out.writeInSteps(value)
  out.text(',"proof":')
  for (const piece of proof) {
    yield
    out.text(piece)
  }
  return out.text('}')
}

/** Writes BCS of the bytes of an answer, and of its proof, in steps. */
export function* writeBcsWithProof(
  out: AnswerBytes,
  value: readonly Uint8Array[],
  proof: Iterable<Uint8Array>,
): Steps<AnswerBytes> {
  const length = value.reduce((sum, piece) => sum + piece.length, 0)
  out.write(new ByteWriter().uleb128(length).toBytes())
  for (const piece of value) yield* out.writeInSteps(piece)
  for (const piece of proof) yield* out.writeInSteps(piece)
  return out
}
