import { ByteWriter, isLedgerStateError, parseAddress } from '@ledger-state/core'
import { bytesToHexDigits, copyBytes } from '@ledger-state/core/bytes'
import { type CodedFunction, readModuleCode, type SignatureToken } from '@ledger-state/move-module'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { decodeStateKey } from '@ledger-state/type-tag'
import { beforeAll, describe, expect, it } from 'vitest'
import { MemoryLedger, runView } from '../testing/kits.js'
import { createVm } from './index.js'

// Modules of a damaged or hostile store.

const GENESIS = ['mainnet', 'testnet', 'devnet'].map((name) => `shared/data/genesis/${name}.genesis.blob`)
const ROUNDS = isSlowRun ? 8_000 : 400

interface StoredModule {
  readonly key: Uint8Array
  readonly address: Uint8Array
  readonly name: string
  readonly bytes: Uint8Array
}

function modulesOf(ledger: MemoryLedger): StoredModule[] {
  return [...ledger.keys(ledger.latest)].flatMap((key) => {
    const named = decodeStateKey(key)
    const { address, name } = named.kind === 'module' ? named : { address: undefined, name: '' }
    return address ? [{ key, address, name, bytes: ledger.at(ledger.latest).read(key)! }] : []
  })
}

describe.skipIf(!hasSharedData)('modules', () => {
  const ledgers: MemoryLedger[] = []

  beforeAll(async () => {
    for (const serve of [
      ...GENESIS,
      'shared/conformance/views-ops.ndjson.gz',
      'shared/conformance/views-programs.ndjson.gz',
    ])
      ledgers.push(await MemoryLedger.load(serve))
  })

  it('that are damaged end in results or faults, within the budget', () => {
    const seed = testSeed()
    const random = createRandom(seed)
    const cases = ledgers.map((ledger) => ({
      state: ledger.at(ledger.latest),
      modules: modulesOf(ledger).filter(({ bytes }) => readModuleCode(bytes).views.size > 0),
    }))
    const marked = cases.filter(({ modules }) => modules.length > 0)
    const vm = createVm()
    let ran = 0
    let faults = 0
    for (let round = 0; round < ROUNDS; round++) {
      const { state, modules } = random.pick(marked)
      const victim = random.pick(modules)
      const damaged = damage(victim.bytes, random)
      const view = pickView(damaged, random)
      if (!view) continue
      const victimKey = bytesToHexDigits(victim.key)
      const damagedState = {
        read: (key: Uint8Array) => (bytesToHexDigits(key) === victimKey ? damaged : state.read(key)),
      }
      const call = {
        address: victim.address,
        module: victim.name,
        function: view.name,
        typeArguments: view.typeParameters.map(() => ({ kind: 'u64' as const })),
        arguments: view.parameters.map((token) => randomArgument(token, random)),
      }
      const outcome = runView(vm, damagedState, call, { budget: BUDGET })
      const context = `TEST_SEED=${seed}, round ${round}, ${victim.name}::${view.name}`
      expect(outcome.usage.instructions, context).toBeLessThan(2 * BUDGET.instructions)
      expect(outcome.usage.bytes, context).toBeLessThan(16 * BUDGET.bytes)
      ran++
      if (outcome.kind !== 'fault') continue
      // Functions are verified before they run, so no check at run time finds a fault in them.
      expect(outcome.fault.message, context).not.toMatch(/at run time|malformed code or arguments/)
      faults++
    }
    expect(ran).toBeGreaterThan(ROUNDS / 10)
    expect(faults).toBeGreaterThan(0)
  })
})

const BUDGET = { instructions: 100_000, bytes: 4 << 20 }

/**
 * A copy of a module with some bytes changed. Most changes are of single bits, so that the module often still decodes.
 */
function damage(bytes: Uint8Array, random: Random): Uint8Array {
  const damaged = copyBytes(bytes)
  for (let left = 1 + random.below(3); left > 0; left--) {
    const at = random.below(damaged.length)
    if (random.below(2) === 0) damaged[at] = damaged[at]! ^ (1 << random.below(8))
    else damaged[at] = random.below(0x69)
  }
  return damaged
}

/** Chooses a view of a module that still decodes. */
function pickView(bytes: Uint8Array, random: Random): CodedFunction | undefined {
  try {
    const { functions, views } = readModuleCode(bytes)
    const marked = functions.filter(({ name }) => views.has(name))
    return marked.length > 0 ? random.pick(marked) : undefined
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_module')) return undefined
    throw error
  }
}

function randomArgument(token: SignatureToken, random: Random): Uint8Array {
  const width = /^[ui](\d+)$/.exec(token.kind)?.[1]
  if (width) return new ByteWriter().integer(BigInt(random.below(1_000)), Number(width) / 8).toBytes()
  switch (token.kind) {
    case 'bool':
      return Uint8Array.of(random.below(2))
    case 'address':
      return parseAddress(`0x${random.below(256).toString(16)}`)
    case 'vector':
      return new ByteWriter().byteString(random.bytes(random.below(10))).toBytes()
    default:
      return random.bytes(random.below(40))
  }
}
