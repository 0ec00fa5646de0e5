import type { Native } from './native.js'

const VERIFICATION_ERROR = 2006

/** Natives that are not built. A view that calls one ends in a fault that names it, never with a wrong value. */
const NAMES = [
  '0x1::ristretto255_bulletproofs::verify_range_proof_internal',
  '0x1::ristretto255_bulletproofs::verify_batch_range_proof_internal',
  '0x1::confidential_range_proofs::verify_batch_range_proof_internal',
  // The usage of storage is a count of the database, and not in the state.
  '0x1::state_storage::get_state_storage_usage_only_at_epoch_beginning',
  '0x7::native_position::native_set_position',
  '0x7::native_position::native_delete_position',
] as const

export const UNBUILT_NATIVES: Readonly<Record<string, Native>> = Object.fromEntries(
  NAMES.map((name): [string, Native] => [
    name,
    (context) => context.fault(VERIFICATION_ERROR, `The native function ${name} is not available here`),
  ]),
)
