import { ByteReader, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { bytesToHexDigits, copyBytes } from '@ledger-state/core/bytes'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { STATUS } from '../faults/status.js'
import { VmFault } from '../faults/vm-fault.js'
import type { NamedKey, StateAccess } from './state-access.js'

const FRAMEWORK = parseAddress('0x1')

function frameworkKey(type: string): NamedKey {
  const bytes = resourceKey(FRAMEWORK, parseStructTag(`0x1::${type}`))
  return { bytes, text: bytesToHexDigits(bytes) }
}

const FEATURES_KEY = frameworkKey('features::Features')
const CHAIN_ID_KEY = frameworkKey('chain_id::ChainId')
const GAS_SCHEDULE_KEY = frameworkKey('gas_schedule::GasScheduleV2')
const OLD_GAS_SCHEDULE_KEY = frameworkKey('gas_schedule::GasSchedule')
const RECONFIGURATION_KEY = frameworkKey('reconfiguration::Configuration')

/** Keys that every run depends on, in addition to its modules and their reads. */
const ENVIRONMENT_KEYS: readonly NamedKey[] = [
  FEATURES_KEY,
  CHAIN_ID_KEY,
  GAS_SCHEDULE_KEY,
  OLD_GAS_SCHEDULE_KEY,
  RECONFIGURATION_KEY,
]

/** Flags that are off if the state does not set them. All other known flags are then on. */
const OFF_BY_DEFAULT: ReadonlySet<number> = new Set([6, 45, 48, 61, 68, 104])
/** The newest flag that the defaults know. */
const NEWEST_DEFAULT = 105
const TEST_CHAIN_ID = 4

/** The settings of a chain at a version. */
export interface ChainSettings {
  readonly chainId: number
  /** Feature version of the gas schedule. */
  readonly gasFeatureVersion: number
  /** Microseconds since 1970. Features that begin at a time compare it with this clock. */
  readonly lastReconfigurationTime: number
  /** The keys that these settings were read from. */
  readonly keys: readonly NamedKey[]
  isFeatureOn(flag: number): boolean
}

/**
 * Reads the settings of the state. Keys of `alsoNeeded` are loaded in the same round.
 * @throws VmFault without a gas schedule; LackingKeys
 */
export function readEnvironment(state: StateAccess, alsoNeeded: () => readonly Uint8Array[]): ChainSettings {
  if (!state.isLoaded(FEATURES_KEY.bytes)) {
    state.expectLoaded([...ENVIRONMENT_KEYS.map(({ bytes }) => bytes), ...alsoNeeded()])
  }
  // A copy: settings are kept longer than the bytes of a state.
  const features = read(state, FEATURES_KEY, (reader) => copyBytes(reader.readByteString()))
  const chainId = read(state, CHAIN_ID_KEY, (reader) => reader.readU8()) ?? TEST_CHAIN_ID
  const gasSchedule = readGasFeatureVersion(state)
  const lastReconfigurationTime = read(state, RECONFIGURATION_KEY, (reader) => {
    // Skips the epoch.
    reader.readU64()
    return Number(reader.readU64())
  })
  return {
    chainId,
    gasFeatureVersion: gasSchedule.version,
    lastReconfigurationTime: lastReconfigurationTime ?? 0,
    keys: [FEATURES_KEY, CHAIN_ID_KEY, ...gasSchedule.keys, RECONFIGURATION_KEY],
    isFeatureOn: (flag) =>
      features
        ? ((features[flag >> 3] ?? 0) & (1 << (flag & 7))) !== 0
        : flag <= NEWEST_DEFAULT && !OFF_BY_DEFAULT.has(flag),
  }
}

function readGasFeatureVersion(state: StateAccess): {
  readonly version: number
  readonly keys: readonly NamedKey[]
} {
  const version = read(state, GAS_SCHEDULE_KEY, (reader) => Number(reader.readU64()))
  if (version !== undefined) return { version, keys: [GAS_SCHEDULE_KEY] }
  if (state.readForEnvironment(OLD_GAS_SCHEDULE_KEY)) {
    return { version: 0, keys: [GAS_SCHEDULE_KEY, OLD_GAS_SCHEDULE_KEY] }
  }
  const text =
    'status VM_STARTUP_FAILURE of type Invariant violation with message Neither gas schedule v2 nor v1 exists.'
  throw new VmFault(STATUS.VM_STARTUP_FAILURE, text)
}

/** Reads and decodes a setting. Bytes that do not decode count as absent. */
function read<T>(state: StateAccess, key: NamedKey, readValue: (reader: ByteReader) => T): T | undefined {
  const bytes = state.readForEnvironment(key)
  if (!bytes) return undefined
  try {
    return readValue(new ByteReader(bytes))
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}
