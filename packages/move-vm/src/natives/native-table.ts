import { ACCOUNT_NATIVES } from './account-natives.js'
import { AGGREGATOR_NATIVES } from './aggregator-natives.js'
import { AGGREGATOR_V2_NATIVES } from './aggregator-v2-natives.js'
import { ALGEBRA_NATIVES } from './algebra-natives.js'
import { BCS_NATIVES } from './bcs-natives.js'
import { DISPATCH_NATIVES } from './dispatch-natives.js'
import { HASH_NATIVES } from './hash-natives.js'
import { MEMORY_NATIVES } from './memory-natives.js'
import type { Native } from './native.js'
import { REFLECT_NATIVES } from './reflect-natives.js'
import { RISTRETTO_NATIVES } from './ristretto-natives.js'
import { SIGNATURE_NATIVES } from './signature-natives.js'
import { STORAGE_SLOT_NATIVES } from './storage-slot-natives.js'
import { STRING_NATIVES } from './string-natives.js'
import { TABLE_NATIVES } from './table-natives.js'
import { TRANSACTION_NATIVES } from './transaction-natives.js'
import { TYPE_NATIVES } from './type-natives.js'
import { UNBUILT_NATIVES } from './unbuilt-natives.js'

/** The native functions, by `0xADDRESS::module::function` with a short address. */
export const NATIVES: ReadonlyMap<string, Native> = new Map(
  [
    ACCOUNT_NATIVES,
    AGGREGATOR_NATIVES,
    AGGREGATOR_V2_NATIVES,
    ALGEBRA_NATIVES,
    BCS_NATIVES,
    DISPATCH_NATIVES,
    HASH_NATIVES,
    MEMORY_NATIVES,
    REFLECT_NATIVES,
    RISTRETTO_NATIVES,
    SIGNATURE_NATIVES,
    STORAGE_SLOT_NATIVES,
    STRING_NATIVES,
    TABLE_NATIVES,
    TRANSACTION_NATIVES,
    TYPE_NATIVES,
    UNBUILT_NATIVES,
  ].flatMap(Object.entries<Native>),
)
